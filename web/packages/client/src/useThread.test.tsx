import { ApolloClient, ApolloLink } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import { act, render, waitFor, type RenderResult } from "@testing-library/react";
import { Observable, type Subscriber } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { RetwisCache } from "./cache.ts";
import { TimelinePostFragmentDoc, ThreadPageDocument } from "./generated.ts";
import { createRetwis, RetwisProvider, useCreatePost, useDeletePost, useThread, type PostErrors, type Thread } from "./index.ts";

/** The operations that wait for an answer, by their names. */
let asked: Record<string, { variables: Record<string, unknown>; answer: Subscriber<ApolloLink.Result> }[]>;
let client: RetwisApolloClient;
let view: RenderResult;
let thread: Thread;
let create: ReturnType<typeof useCreatePost>;
let remove: ReturnType<typeof useDeletePost>;

beforeEach(() => {
  asked = {};
  const link = new ApolloLink(
    ({ operationName, variables }) =>
      new Observable<ApolloLink.Result>((answer) => {
        (asked[operationName ?? ""] ??= []).push({ variables, answer });
      }),
  );
  const retwis = createRetwis({ url: "http://localhost/graphql" });
  client = new ApolloClient({ cache: new RetwisCache(), dataMasking: true, link }) as RetwisApolloClient;
  view = render(
    <RetwisProvider retwis={{ ...retwis, client }}>
      <View />
    </RetwisProvider>,
  );
});
afterEach(() => view.unmount());

function View({ newestFirst = false }: { newestFirst?: boolean }) {
  thread = useThread("p", { newestFirst });
  create = useCreatePost();
  remove = useDeletePost();
  const { data } = useFragment({ fragment: TimelinePostFragmentDoc, fragmentName: "TimelinePost", from: thread.post });
  return (
    <p>
      {thread.ancestors.map(({ post }) => post?.id ?? "-").join("")}
      {thread.gap && " gap"}/{thread.post ? `${thread.post.id}${data?.replyCount ?? "?"}` : "-"}/{thread.replies.map(({ node }) => node.id).join("")}
    </p>
  );
}

const me = { id: "me", username: "me", displayName: "Me" };
const post = (id: string, answered?: string, author = "other") => ({
  __typename: "Post",
  id,
  text: id,
  createdAt: "2026-01-01T00:00:00.000Z",
  author: { __typename: "User", id: author, username: author, displayName: author },
  entities: [],
  replyCount: 0,
  likeCount: 0,
  viewerHasLiked: false,
  repostCount: 0,
  viewerHasReposted: false,
  inReplyToId: answered ?? null,
  inReplyToUser: answered === undefined ? null : { __typename: "User", id: "other", username: "other" },
  quotedPostId: null,
  quotedPost: null,
  quoteCount: 0,
});
const pageOf = (ids: string, hasNextPage: boolean) => ({
  __typename: "ReplyConnection",
  edges: [...ids].map((id) => ({ __typename: "PostEdge", cursor: `at ${id}`, node: post(id, "p") })),
  pageInfo: { __typename: "PageInfo", hasNextPage, hasPreviousPage: false, startCursor: "start", endCursor: `at ${ids.at(-1)}` },
});
const ancestor = (id: string, answered?: string) => ({ __typename: "Ancestor", postId: id, post: post(id, answered), unavailable: null });
const page = (ancestors: object[] = [ancestor("a"), ancestor("b", "a")]) => ({
  thread: { __typename: "Thread", postId: "p", post: { ...post("p", "b"), replyCount: 3 }, ancestors, replyCount: 3, replies: pageOf("xy", true) },
});

/** Answers the oldest operation with a name. */
async function answer(operation: string, result: ApolloLink.Result | Error): Promise<void> {
  await act(async () => {
    const { answer } = asked[operation]!.shift()!;
    if (result instanceof Error) return answer.error(result);
    answer.next(result);
    answer.complete();
  });
}
/** Waits until a text is shown. */
async function until(text: string): Promise<void> {
  await waitFor(() => expect(view.container.textContent).toBe(text), { timeout: 30_000 });
}

async function send(text: string): Promise<{ errors: Promise<PostErrors> }> {
  let errors: Promise<PostErrors> = Promise.resolve([]);
  await act(async () => {
    errors = create({ text, author: me, homeTimelineId: "h", inReplyTo: { id: "p", author: { id: "other", username: "other" } }, idempotencyKey: "k" });
    errors.catch(() => {});
  });
  return { errors };
}

test("a thread has the posts above, and pages of replies", async () => {
  await until("/-/");
  expect(thread.status).toBe("loading");
  await answer("ThreadPage", { data: page() });
  await until("ab/p3/xy");
  expect(thread.status).toBe("ready");
  act(() => void thread.moreReplies.load());
  expect(asked["MoreReplies"]?.[0]?.variables).toEqual({ postId: "p", orderBy: "OLDEST", after: "at y" });
  await answer("MoreReplies", { data: { thread: { __typename: "Thread", postId: "p", replies: pageOf("z", false) } } });
  await until("ab/p3/xyz");
  expect(thread.moreReplies.more).toBe(false);
});

test("a deep thread has a gap below its root", async () => {
  await answer("ThreadPage", { data: page([ancestor("a"), ancestor("c", "b")]) });
  await until("ac gap/p3/xy");
});

test("a post without a thread is missing, and a failed read is repeated", async () => {
  await answer("ThreadPage", new Error("offline"));
  expect(thread.status).toBe("failed");
  act(() => thread.retry());
  await answer("ThreadPage", { data: { thread: null } });
  expect(thread.status).toBe("missing");
});

test("a reply is shown and counted at once, and once", async () => {
  await answer("ThreadPage", { data: page() });
  const { errors } = await send("n");
  await until("ab/p4/pending:kxy");
  expect(asked["CreatePost"]?.[0]?.variables["input"]).toEqual({ text: "n", idempotencyKey: "k", inReplyToId: "p" });
  const edge = { __typename: "PostEdge", cursor: "of home", node: post("n", "p", "me") };
  await answer("CreatePost", { data: { createPost: { __typename: "CreatePostPayload", edge, userErrors: [] } } });
  await until("ab/p4/nxy");
  expect(await errors).toEqual([]);
});

test("a reply that fails disappears again", async () => {
  await answer("ThreadPage", { data: page() });
  const refused = await send("n");
  const userErrors = [{ __typename: "UserError", code: "NOT_FOUND", field: ["input", "inReplyToId"], message: "gone" }];
  await answer("CreatePost", { data: { createPost: { __typename: "CreatePostPayload", edge: null, userErrors } } });
  await until("ab/p3/xy");
  expect((await refused.errors)[0]?.code).toBe("NOT_FOUND");
  const failed = await send("n");
  await until("ab/p4/pending:kxy");
  await answer("CreatePost", new Error("offline"));
  await expect(failed.errors).rejects.toThrow("offline");
  await until("ab/p3/xy");
});

test("a deleted post leaves a placeholder, and does not return with a page that arrives later", async () => {
  await answer("ThreadPage", { data: page() });
  await act(async () => client.cache.removePost("a"));
  await act(async () => client.cache.removePost("y"));
  await until("-b/p3/x");
  await act(async () => client.cache.removePost("p"));
  await until("-b/-/x");
  expect(thread.status).toBe("ready");
  await act(async () => void client.cache.writeQuery({ query: ThreadPageDocument, variables: { postId: "p", orderBy: "OLDEST" }, data: page() as never }));
  await until("-b/-/x");
  expect(thread.status).toBe("ready");
});

test("a reply that its author deletes is no longer counted", async () => {
  await answer("ThreadPage", { data: page() });
  await act(async () => void remove("x", "other"));
  await answer("DeletePost", { data: { deletePost: { __typename: "DeletePostPayload", deletedPostId: "x", userErrors: [] } } });
  await until("ab/p2/y");
});

test("in another order the thread stays while the replies are read", async () => {
  await answer("ThreadPage", { data: page() });
  view.rerender(
    <RetwisProvider retwis={{ ...createRetwis({ url: "http://localhost/graphql" }), client }}>
      <View newestFirst />
    </RetwisProvider>,
  );
  await until("ab/p3/");
  expect(thread.status).toBe("loading");
  const reversed = page();
  reversed.thread.replies = pageOf("yx", false);
  await answer("ThreadPage", { data: reversed });
  await until("ab/p3/yx");
  expect(thread.status).toBe("ready");
});
