import type { FetcherResultPayload } from "@graphiql/toolkit";
import { expect, test } from "vitest";
import { keepEvents } from "./events.ts";

async function shown(results: FetcherResultPayload[]): Promise<unknown[]> {
  const source = (async function* () {
    yield* results;
  })() as AsyncGenerator<never>;
  const fetcher = keepEvents(async () => source);
  const all = [];
  for await (const result of (await fetcher({ query: "" })) as AsyncIterable<unknown>) all.push(result);
  return all;
}

const event = (n: number): FetcherResultPayload => ({ data: { n } });

test("events accumulate, the newest first", async () => {
  expect(await shown([event(1), event(2)])).toEqual([{ events: [event(1)] }, { events: [event(2), event(1)] }]);
});

test("a long subscription keeps the latest events", async () => {
  const last = (await shown(Array.from({ length: 150 }, (_, i) => event(i)))).at(-1) as { events: unknown[] };
  expect([last.events.length, last.events[0], last.events.at(-1)]).toEqual([100, event(149), event(50)]);
});

test("responses and parts of responses pass as they are", async () => {
  expect(await keepEvents(async () => event(1) as never)({ query: "" })).toEqual(event(1));
  const part = { data: { n: 1 }, hasNext: true } as FetcherResultPayload;
  expect(await shown([part])).toEqual([part]);
});

test("stopping a subscription does not wait for its next event", async () => {
  let stopped = false;
  const silent = { next: () => new Promise<never>(() => {}), return: async () => ((stopped = true), { done: true as const, value: undefined }) };
  const results = (await keepEvents(async () => ({ [Symbol.asyncIterator]: () => silent }))({ query: "" })) as AsyncIterable<unknown>;
  const iterator = results[Symbol.asyncIterator]();
  void iterator.next();
  await iterator.return?.();
  expect(stopped).toBe(true);
});
