import { ApolloClient, CombinedGraphQLErrors, InMemoryCache, gql } from "@apollo/client";
import { createClient } from "graphql-ws";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeNetwork, type FakeSocket } from "./testing/fakeSocket.ts";
import { ResumingLink } from "./resumingLink.ts";

const query = gql`
  subscription Watch($after: Cursor) {
    timelineEvents(after: $after) {
      cursor
    }
  }
`;

let network: FakeNetwork;

beforeEach(() => {
  vi.useFakeTimers();
  network = new FakeNetwork();
});
afterEach(() => {
  vi.useRealTimers();
});

function watch(after: string | null) {
  const socket = createClient({
    url: "ws://server.test",
    webSocketImpl: network.WebSocket,
    retryAttempts: Infinity,
    retryWait: async () => {},
  });
  const client = new ApolloClient({ cache: new InMemoryCache(), link: new ResumingLink(socket) });
  const seen: unknown[] = [];
  const errors: unknown[] = [];
  const subscription = client.subscribe({ query, variables: { after } }).subscribe({
    next: ({ data, error }) => (error ? errors.push(error) : seen.push(data)),
    error: (error: unknown) => errors.push(error),
  });
  return { seen, errors, subscription };
}

async function accept(): Promise<FakeSocket> {
  await vi.advanceTimersByTimeAsync(10);
  const socket = network.last;
  socket.open();
  await vi.advanceTimersByTimeAsync(10);
  socket.receive({ type: "connection_ack" });
  await vi.advanceTimersByTimeAsync(10);
  return socket;
}

function event(socket: FakeSocket, cursor: string): void {
  socket.receive({
    type: "next",
    id: socket.subscribed?.id,
    payload: { data: { timelineEvents: { __typename: "TimelineCaughtUp", cursor } } },
  });
}

test("resumes after the last event", async () => {
  const { seen } = watch("the page's cursor");
  const first = await accept();
  expect(first.subscribed?.payload?.variables["after"]).toBe("the page's cursor");
  event(first, "one");
  event(first, "two");
  first.lose();

  const second = await accept();
  expect(second).not.toBe(first);
  expect(second.subscribed?.payload?.variables["after"]).toBe("two");
  event(second, "three");
  await vi.advanceTimersByTimeAsync(10);
  expect(seen).toHaveLength(3);
});

test("resumes where it began if there was no event", async () => {
  watch("the page's cursor");
  (await accept()).lose();
  expect((await accept()).subscribed?.payload?.variables["after"]).toBe("the page's cursor");
});

test("reports GraphQL errors as Apollo does", async () => {
  const { errors } = watch(null);
  const socket = await accept();
  socket.receive({ type: "error", id: socket.subscribed?.id, payload: [{ message: "not yours" }] });
  await vi.advanceTimersByTimeAsync(10);
  expect(errors).toHaveLength(1);
  expect(CombinedGraphQLErrors.is(errors[0])).toBe(true);
});

test("completes the subscription when it is unsubscribed", async () => {
  const { subscription } = watch(null);
  const socket = await accept();
  subscription.unsubscribe();
  await vi.advanceTimersByTimeAsync(10);
  expect(socket.sent.map(({ type }) => type)).toContain("complete");
});
