import { ApolloClient, ApolloLink } from "@apollo/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Observable } from "rxjs";
import { AppCache } from "../api/cache.ts";
import type { AppClient } from "../api/client.ts";
import type { SessionDocument } from "../api/generated.ts";
import { SessionWatch } from "./sessionWatch.ts";

let answer: string | null | Error;
let asked: number;
let forgotten: number;
let watch: SessionWatch;

const session = (id: string) => ({
  viewer: {
    __typename: "Viewer" as const,
    id,
    user: { __typename: "User" as const, id: `user ${id}`, username: id, displayName: id },
    homeTimeline: { __typename: "Timeline" as const, id: `home of ${id}` },
  },
});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("BroadcastChannel", undefined);
  asked = forgotten = 0;
  const client = new ApolloClient({
    cache: new AppCache(),
    link: new ApolloLink(
      () =>
        new Observable<ApolloLink.Result>((subscriber) => {
          asked++;
          if (answer instanceof Error) return subscriber.error(answer);
          subscriber.next({ data: answer === null ? { viewer: null } : session(answer) });
          subscriber.complete();
        }),
    ),
  }) as AppClient;
  client.cache.writeQuery({ query: SessionDocument, data: session("ada") });
  watch = new SessionWatch(client, () => forgotten++);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("a session that has ended changes what is shown", async () => {
  answer = null;
  const known = watch.verify();
  await vi.advanceTimersByTimeAsync(1_000);
  await known;
  expect([watch.getEpoch(), forgotten]).toEqual([1, 1]);
});

test("one that goes on changes nothing, and many hints are one question", async () => {
  answer = "ada";
  const hints = [watch.verify(), watch.verify(), watch.verify()];
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all(hints);
  expect([asked, watch.getEpoch(), forgotten]).toEqual([1, 0, 0]);
});

test("a server out of reach is asked until it answers", async () => {
  answer = new Error("no network");
  let known = false;
  void watch.verify().then(() => (known = true));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(known).toBe(false);
  expect(asked).toBeGreaterThan(4);
  expect(asked).toBeLessThan(9);
  answer = null;
  await vi.advanceTimersByTimeAsync(15_000);
  expect([known, watch.getEpoch()]).toEqual([true, 1]);
});

test("whoever logs in or out meanwhile has answered it", async () => {
  answer = "bob";
  const known = watch.verify();
  await watch.changed();
  await vi.advanceTimersByTimeAsync(1_000);
  await known;
  expect([asked, watch.getEpoch()]).toEqual([0, 1]);
});
