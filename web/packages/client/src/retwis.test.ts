import { expect, test } from "vitest";
import { createRetwis, ViewerTimelinesDocument } from "./index.ts";

test("a change of session leaves nothing of the earlier one", async () => {
  const answer = {
    viewer: {
      __typename: "Viewer",
      id: "viewer 1",
      user: { __typename: "User", id: "user 1", username: "ada", displayName: "Ada" },
      homeTimeline: { __typename: "Timeline", id: "home 1" },
      mentionsTimeline: { __typename: "Timeline", id: "mentions 1" },
    },
  };
  const retwis = createRetwis({
    url: "http://localhost/graphql",
    fetch: async () => new Response(JSON.stringify({ data: answer }), { headers: { "content-type": "application/json" } }),
  });
  await retwis.client.query({ query: ViewerTimelinesDocument });
  const timeline = retwis.timelines.get("home 1");
  retwis.places.set("home 1 visit", { entryId: "post 1", top: 3, cursor: "c" });
  retwis.places.keep();
  expect(JSON.stringify(retwis.client.extract())).toContain("Ada");
  expect(sessionStorage.getItem("retwis-places")).toContain("post 1");

  await retwis.sessionChanged();
  expect(retwis.client.extract()).toEqual({});
  expect(retwis.places.get("home 1 visit")).toBeUndefined();
  expect(retwis.timelines.get("home 1")).not.toBe(timeline);
  expect(sessionStorage.getItem("retwis-places")).toBe("[]");
});
