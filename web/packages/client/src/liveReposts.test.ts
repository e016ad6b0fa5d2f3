import { expect, test } from "vitest";
import { PostLikesFragmentDoc, PostRepostsFragmentDoc, TimelinePageDocument } from "./generated.ts";
import { added, client, edge, entries, hidden, live, own, page, receive, removed, reader, reposted, settle, startTimelineForTests, user } from "./testing/timeline.ts";

startTimelineForTests();

test("reposts are entries of their own beside the post", async () => {
  live.follow(reader());
  receive(reposted("b", "fan"));
  receive(reposted("b", "fan"));
  await settle();
  expect([entries(), hidden()]).toEqual([["bb", "c", "b", "a"], "bb"]);
  expect(live.window.read()?.edges[0]?.reason).toMatchObject({ user: user("fan") });
  await live.showNewPosts();
  expect(hidden()).toBe("");
});

test("reposts disappear when they are undone, and leave the post", async () => {
  live.follow(reader());
  receive(reposted("b", "fan"));
  await settle();
  receive(removed("bb"));
  await settle();
  expect(entries()).toEqual(["c", "b", "a"]);
  // A page that was read before arrives.
  const before = page({});
  const { posts } = before.node as Extract<typeof before.node, { __typename: "Timeline" }>;
  posts.edges = [edge("b", "somebody", "fan"), ...posts.edges];
  client.cache.writeQuery({ query: TimelinePageDocument, variables: { id: "t" }, data: before });
  expect(entries()).toEqual(["c", "b", "a"]);
});

test("reposts disappear with the post, also if both are in one batch", async () => {
  live.follow(reader());
  receive(reposted("b", "fan"));
  await settle();
  receive(removed("b"));
  await settle();
  expect(entries()).toEqual(["c", "a"]);
  receive(added("d"));
  receive(reposted("d", "fan"));
  receive(removed("d"));
  await settle();
  expect([entries(), hidden()]).toEqual([["c", "a"], ""]);
});

test("reposts by the user of this tab are shown at once, and wait for no post", async () => {
  live.follow(reader());
  own.noteRepost("b", "me", true);
  receive(reposted("b", "me"));
  await settle();
  expect([entries(), hidden()]).toEqual([["bb", "c", "b", "a"], ""]);
  void own.send("me", () => new Promise(() => {}));
  receive(reposted("c", "fan", "me"));
  await settle();
  expect([entries(), hidden()]).toEqual([["cc", "bb", "c", "b", "a"], "cc"]);
});

test("reposts of posts that no page has brought do not say whether the viewer likes or has reposted them", async () => {
  live.follow(reader());
  for (const event of [added("d"), reposted("b", "fan"), reposted("z", "fan")]) {
    const { viewerHasLiked, viewerHasReposted, repostCount, quotedPost, ...node } = event.edge.node;
    receive({ ...event, edge: { ...event.edge, node } });
  }
  await settle();
  const known = ["d", "b", "z"].map((id) => {
    const from = { __typename: "Post" as const, id };
    const likes = client.cache.readFragment({ fragment: PostLikesFragmentDoc, from });
    return [likes?.viewerHasLiked, client.cache.readFragment({ fragment: PostRepostsFragmentDoc, from })?.viewerHasReposted];
  });
  expect(known).toEqual([[false, false], [false, false], [null, null]]);
});
