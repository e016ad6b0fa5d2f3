import { expect, test } from "vitest";
import { createRetwis, TimelineUnreadFragmentDoc } from "./index.ts";
import { knownMarker, markRead } from "./unread.ts";

const payload = (timeline: object | null, userErrors: object[] = []) => ({
  data: { markTimelineRead: { __typename: "MarkTimelineReadPayload", timeline, userErrors } },
});
const marked = { __typename: "Timeline", id: "home 1", marker: "marker b", unreadCount: 1 };
const refusal = { __typename: "UserError", code: "NOT_FOUND", field: null, message: "there is no such timeline" };
const broken = { data: null, errors: [{ message: "internal error", extensions: { code: "INTERNAL_SERVER_ERROR" } }] };

test.each([
  ["is at once, and then what the server says", payload(marked), "", { marker: "marker b", unreadCount: 1 }],
  ["returns when the server refuses", payload(null, [refusal]), "there is no such timeline", { marker: "marker a", unreadCount: 7 }],
  ["returns when the server fails", broken, "internal error", { marker: "marker a", unreadCount: 7 }],
])("what is unread after a mark %s", async (_, answer, failure, want) => {
  const retwis = createRetwis({
    url: "http://localhost/graphql",
    fetch: async () => new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } }),
  });
  const { cache } = retwis.client;
  const from = { __typename: "Timeline" as const, id: "home 1" };
  cache.writeFragment({ fragment: TimelineUnreadFragmentDoc, data: { ...from, marker: "marker a", unreadCount: 7 } });
  const shown = () => cache.readFragment({ fragment: TimelineUnreadFragmentDoc, from, optimistic: true });
  const done = markRead(retwis.client, "home 1", "cursor b").then(
    () => "",
    (error: Error) => error.message,
  );
  expect(shown()).toMatchObject({ marker: "cursor b", unreadCount: 0 });
  expect(knownMarker(cache, "home 1")).toBe("marker a");
  expect(await done).toBe(failure);
  expect(shown()).toMatchObject(want);
  expect(knownMarker(cache, "home 1")).toBe(want.marker);
});
