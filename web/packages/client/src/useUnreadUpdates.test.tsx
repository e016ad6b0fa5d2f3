import { ApolloClient, ApolloLink } from "@apollo/client";
import { act, render, type RenderResult } from "@testing-library/react";
import { OperationTypeNode } from "graphql";
import { Observable, type Subscriber } from "rxjs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { RetwisCache } from "./cache.ts";
import { timelineDocuments } from "./documents.ts";
import { createRetwis, RetwisProvider, useUnread } from "./index.ts";
import { OwnPosts } from "./ownPosts.ts";
import { Timelines } from "./timelines.ts";
import { useUnreadUpdates } from "./useUnreadUpdates.ts";

/** The subscriptions, by the ids of their timelines. */
let server: Record<string, Subscriber<ApolloLink.Result>>;
/** The queries and who waits for their answers. */
let asked: { ids: string[]; answer: Subscriber<ApolloLink.Result> }[];
let view: RenderResult;

beforeEach(() => {
  vi.useFakeTimers();
  server = {};
  asked = [];
  const link = new ApolloLink(
    ({ operationType, variables }) =>
      new Observable<ApolloLink.Result>((subscriber) => {
        if (operationType === OperationTypeNode.SUBSCRIPTION) server[String(variables["timelineId"])] = subscriber;
        else asked.push({ ids: variables["timelineIds"] as string[], answer: subscriber });
      }),
  );
  const retwis = createRetwis({ url: "http://localhost/graphql" });
  const client = new ApolloClient({ cache: new RetwisCache(), dataMasking: true, link }) as RetwisApolloClient;
  const timelines = new Timelines(client, timelineDocuments(), new OwnPosts(), retwis.connection);
  view = render(
    <RetwisProvider retwis={{ ...retwis, client, timelines }}>
      <Numbers />
    </RetwisProvider>,
  );
});
afterEach(() => {
  view.unmount();
  vi.useRealTimers();
});

function Numbers() {
  useUnreadUpdates(["a", "b"]);
  return <p>{[useUnread("a"), useUnread("b")].map((unread) => unread?.unreadCount ?? "?").join(" ")}</p>;
}

const caughtUp = (marker: string, replayed = 0) => ({ __typename: "TimelineCaughtUp", cursor: "c", replayed, marker });
const moved = (marker: string) => ({ __typename: "TimelineMarkerMoved", cursor: "c", marker });
const removed = { __typename: "PostRemoved", cursor: "c", entryId: "p" };

function receive(id: string, event: object): void {
  server[id]?.next({ data: { timelineEvents: event } });
}
async function pass(milliseconds = 2_000): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(milliseconds));
}
/** Answers the last query with these numbers, and the marker "m". */
async function answer(...counts: number[]): Promise<void> {
  const { ids, answer } = asked.at(-1)!;
  await act(async () => {
    answer.next({ data: { nodes: ids.map((id, i) => ({ __typename: "Timeline", id, marker: "m", unreadCount: counts[i] })) } });
    answer.complete();
    await vi.advanceTimersByTimeAsync(0);
  });
}
const queries = () => asked.map(({ ids }) => ids.join(""));
const shown = () => view.container.textContent;

test("the numbers are read after the subscriptions have begun", async () => {
  await pass();
  expect(queries()).toEqual([]);
  receive("a", caughtUp("m"));
  await pass();
  expect(queries()).toEqual(["a"]);
  await answer(3);
  receive("b", caughtUp("m"));
  await pass();
  expect(queries()).toEqual(["a", "b"]);
  await answer(5);
  expect(shown()).toBe("3 5");
});

test("a number is read again when it may have changed, also while it is being read", async () => {
  for (const id of ["a", "b"]) receive(id, caughtUp("m"));
  await pass();
  await answer(3, 5);
  receive("a", moved("m")); // known already
  receive("b", caughtUp("m"));
  await pass();
  expect(queries()).toEqual(["ab"]);
  receive("a", moved("n"));
  await pass();
  receive("b", removed);
  await pass();
  expect(queries()).toEqual(["ab", "a"]);
  await answer(0);
  await pass();
  expect(queries()).toEqual(["ab", "a", "b"]);
  await answer(4);
  expect(shown()).toBe("0 4");
  receive("b", caughtUp("m", 2));
  await pass();
  expect(queries()).toEqual(["ab", "a", "b", "b"]);
});

test("a read that failed is repeated, and reports nothing", async () => {
  for (const id of ["a", "b"]) receive(id, caughtUp("m"));
  await pass();
  await act(async () => asked[0]!.answer.error(new Error("unreachable")));
  await pass(29_000);
  expect([queries(), shown()]).toEqual([["ab"], "? ?"]);
  await pass();
  await answer(1, 2);
  expect([queries(), shown()]).toEqual([["ab", "ab"], "1 2"]);
});
