import { ApolloClient, ApolloLink } from "@apollo/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Observable } from "rxjs";
import { RetwisCache, ViewerTimelinesDocument, type RetwisApolloClient } from "@retwis/client";
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
    mentionsTimeline: { __typename: "Timeline" as const, id: `mentions of ${id}` },
  },
});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("BroadcastChannel", undefined);
  asked = forgotten = 0;
  const client = new ApolloClient({
    cache: new RetwisCache(),
    link: new ApolloLink(
      () =>
        new Observable<ApolloLink.Result>((subscriber) => {
          asked++;
          if (answer instanceof Error) return subscriber.error(answer);
          subscriber.next({ data: answer === null ? { viewer: null } : session(answer) });
          subscriber.complete();
        }),
    ),
  }) as RetwisApolloClient;
  client.cache.writeQuery({ query: ViewerTimelinesDocument, data: session("ada") });
  watch = new SessionWatch(client, async () => {
    forgotten++;
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("forgets everything after the session ended", async () => {
  answer = null;
  const known = watch.verify();
  await vi.advanceTimersByTimeAsync(1_000);
  await known;
  expect([watch.getEpoch(), forgotten]).toEqual([1, 1]);
});

test("asks once for several signs, and changes nothing if the session goes on", async () => {
  answer = "ada";
  const hints = [watch.verify(), watch.verify(), watch.verify()];
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all(hints);
  expect([asked, watch.getEpoch(), forgotten]).toEqual([1, 0, 0]);
});

test("asks an unreachable server until it answers", async () => {
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

test("does not ask if the session changed meanwhile", async () => {
  answer = "bob";
  const known = watch.verify();
  await watch.changed();
  await vi.advanceTimersByTimeAsync(1_000);
  await known;
  expect([asked, watch.getEpoch()]).toEqual([0, 1]);
});
