import { ApolloClient, ApolloLink } from "@apollo/client";
import { act, render, waitFor, type RenderResult } from "@testing-library/react";
import { Observable, type Subscriber } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { RetwisCache } from "./cache.ts";
import { createRetwis, RetwisProvider, useLikes, useReposts, ViewerTimelinesDocument, type PostErrors } from "./index.ts";
import type { StoredConnection } from "./pagination.ts";
import { PostDetails } from "./postDetails.ts";
import { useRepostPost } from "./useRepostPost.ts";

let asked: { operation: string | undefined; variables: Record<string, unknown>; answer: Subscriber<ApolloLink.Result> }[];
let client: RetwisApolloClient;
let view: RenderResult;
let repost: ReturnType<typeof useRepostPost>;

const post = (id: string, state: object) => ({ __typename: "Post", id, likeCount: 1, ...state });
const edge = (entryId: string, reposter?: string) => ({
  __typename: "PostEdge",
  cursor: `at ${entryId}`,
  entryId,
  node: { __ref: "Post:p" },
  reason: reposter === undefined ? null : { __typename: "Repost", createdAt: "2026-01-01T00:00:00.000Z", user: { __ref: `User:${reposter}` } },
});

beforeEach(() => {
  asked = [];
  const link = new ApolloLink(
    ({ operationName, variables }) => new Observable<ApolloLink.Result>((answer) => void asked.push({ operation: operationName, variables, answer })),
  );
  client = new ApolloClient({ cache: new RetwisCache(), dataMasking: true, link }) as RetwisApolloClient;
  client.cache.restore({
    "Post:p": post("p", { repostCount: 2, viewerHasReposted: false }),
    "Post:new": post("new", {}),
    "Post:old": post("old", { repostCount: 0, viewerHasReposted: null, viewerHasLiked: null }),
    "Timeline:t": {
      __typename: "Timeline",
      id: "t",
      posts: { edges: [edge("mine", "me"), edge("theirs", "fan"), edge("p")], pageInfo: {} },
    } as never,
  });
  const user = { __typename: "User", id: "me", username: "me", displayName: "Me" } as const;
  const [homeTimeline, mentionsTimeline] = [{ __typename: "Timeline", id: "t" }, { __typename: "Timeline", id: "m" }] as const;
  client.cache.writeQuery({ query: ViewerTimelinesDocument, data: { viewer: { __typename: "Viewer", id: "v", user, homeTimeline, mentionsTimeline } } });
  const retwis = { ...createRetwis({ url: "http://localhost/graphql" }), client, details: new PostDetails(client) };
  view = render(
    <RetwisProvider retwis={retwis}>
      {["p", "new", "old"].map((id) => (
        <View key={id} postId={id} />
      ))}
    </RetwisProvider>,
  );
});
afterEach(() => view.unmount());

function View({ postId }: { postId: string }) {
  repost = useRepostPost();
  const reposts = useReposts(postId);
  const likes = useLikes(postId);
  return <p>{reposts && `${reposts.repostCount} ${reposts.reposted} ${likes?.liked}`}</p>;
}

/** Waits until this is shown of a post. */
async function until(text: string, index = 0): Promise<void> {
  await waitFor(() => expect(view.container.children[index]?.textContent).toBe(text), { timeout: 30_000 });
}
async function change(postId: string, reposted: boolean): Promise<Promise<PostErrors>[]> {
  let errors: Promise<PostErrors> = Promise.resolve([]);
  await act(async () => {
    errors = repost(postId, reposted);
    errors.catch(() => {});
  });
  return [errors];
}
async function answer(operation: string, result: ApolloLink.Result | Error): Promise<void> {
  const [{ answer }] = asked.splice(asked.findIndex((one) => one.operation === operation), 1) as [(typeof asked)[number]];
  await act(async () => {
    if (result instanceof Error) return answer.error(result);
    answer.next(result);
    answer.complete();
  });
}
const payload = (id: string, viewerHasReposted: boolean) => ({ __typename: "RepostPayload", post: { __typename: "Post", id, viewerHasReposted }, userErrors: [] });

function entries(): (string | undefined)[] {
  const timeline = (client.cache as RetwisCache).extract()["Timeline:t"] as unknown as { posts: StoredConnection };
  return timeline.posts.edges.map(({ entryId }) => entryId);
}

test("a repost shows and counts at once, whatever the server's number is", async () => {
  await until("2 false false");
  const [errors] = await change("p", true);
  await until("3 true false");
  await answer("RepostPost", { data: { repostPost: payload("p", true) } });
  await until("3 true false");
  expect(await errors).toEqual([]);
  await change("p", true);
  await answer("RepostPost", { data: { repostPost: payload("p", true) } });
  await until("3 true false");
  await change("new", true);
  await answer("RepostPost", { data: { repostPost: payload("new", true) } });
  await until("1 true false", 1);
});

test("a repost that is undone leaves all timelines once the server has undone it", async () => {
  await change("p", true);
  await answer("RepostPost", { data: { repostPost: payload("p", true) } });
  const [failed] = await change("p", false);
  await until("2 false false");
  await answer("UndoRepost", new Error("offline"));
  await expect(failed).rejects.toThrow("offline");
  await until("3 true false");
  expect(entries()).toEqual(["mine", "theirs", "p"]);
  await change("p", false);
  await answer("UndoRepost", { data: { undoRepost: payload("p", false) } });
  await until("2 false false");
  expect(entries()).toEqual(["theirs", "p"]);
});

test("a repost that is undone before it was answered counts once", async () => {
  await change("p", true);
  await until("3 true false");
  await change("p", false);
  await until("2 false false");
  await answer("RepostPost", { data: { repostPost: payload("p", true) } });
  await until("2 false false");
  await answer("UndoRepost", { data: { undoRepost: payload("p", false) } });
  await until("2 false false");
});

test("a repost that is refused is undone", async () => {
  const [errors] = await change("p", true);
  await until("3 true false");
  const refused = { __typename: "RepostPayload", post: null, userErrors: [{ __typename: "UserError", code: "NOT_FOUND", field: null, message: "gone" }] };
  await answer("RepostPost", { data: { repostPost: refused } });
  expect((await errors!)[0]?.code).toBe("NOT_FOUND");
  await until("2 false false");
});

test("what the event of a repost did not bring is read when the post is shown", async () => {
  await waitFor(() => expect(asked.length).toBe(1));
  expect(asked[0]).toMatchObject({ operation: "MissingPostDetails", variables: { postIds: ["old"] } });
  const details = { ...post("old", { repostCount: 4, viewerHasReposted: true, viewerHasLiked: true }), quotedPostId: null, quotedPost: null };
  await answer("MissingPostDetails", { data: { nodes: [details] } });
  await until("4 true true", 2);
});
