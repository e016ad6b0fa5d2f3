import type { Fetcher, FetcherResultPayload } from "@graphiql/toolkit";

/** How many events of a subscription are shown. */
const remembered = 100;

/**
 * Shows all events of a subscription, where GraphiQL shows the last one only. The newest is the first, so that it is in
 * view.
 */
export function keepEvents(fetcher: Fetcher): Fetcher {
  const keeping = async (...request: Parameters<Fetcher>) => {
    const result = await fetcher(...request);
    return isIterable(result) ? collect(result) : result;
  };
  return keeping as Fetcher;
}

function collect(results: AsyncIterable<FetcherResultPayload>): AsyncIterableIterator<FetcherResultPayload> {
  const source = results[Symbol.asyncIterator]();
  const events: FetcherResultPayload[] = [];
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const result = await source.next();
      if (result.done || isIncremental(result.value)) return result;
      events.unshift(result.value);
      events.length = Math.min(events.length, remembered);
      return { value: { events: [...events] } as unknown as FetcherResultPayload };
    },
    // Not a generator: its return would wait for the next event before it unsubscribes.
    async return() {
      return (await source.return?.()) ?? { done: true, value: undefined };
    },
  };
}

function isIterable(result: unknown): result is AsyncIterable<FetcherResultPayload> {
  return typeof result === "object" && result !== null && Symbol.asyncIterator in result;
}

/** Reports whether a result is a part of a response with @defer or @stream. */
function isIncremental(result: FetcherResultPayload): boolean {
  return Array.isArray(result) || "hasNext" in result;
}
