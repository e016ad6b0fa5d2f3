import { ApolloClient, ApolloLink } from "@apollo/client";
import { act, render, waitFor, type RenderResult } from "@testing-library/react";
import { Observable, type Subscriber } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { RetwisCache } from "./cache.ts";
import { MissingPostDetailsDocument, PostQuoteFragmentDoc } from "./generated.ts";
import { createRetwis, RetwisProvider, useCreatePost, useQuoteCount, useQuotedPost } from "./index.ts";
import { PostDetails } from "./postDetails.ts";

let asked: { operation: string | undefined; variables: Record<string, unknown>; answer: Subscriber<ApolloLink.Result> }[];
let client: RetwisApolloClient;
let view: RenderResult;
let create: ReturnType<typeof useCreatePost>;

const author = { __typename: "User", id: "u", username: "u", displayName: "U" };
const original = (id: string) => ({ __typename: "Post", id, text: `Text of ${id}`, createdAt: "2026-01-01T00:00:00.000Z", author: { __ref: "User:u" } });

beforeEach(() => {
  asked = [];
  const link = new ApolloLink(
    ({ operationName, variables }) => new Observable<ApolloLink.Result>((answer) => void asked.push({ operation: operationName, variables, answer })),
  );
  client = new ApolloClient({ cache: new RetwisCache(), dataMasking: true, link }) as RetwisApolloClient;
  client.cache.restore({
    "User:u": author as never,
    "Post:known": { ...original("known"), quoteCount: 1 },
    // As events bring them: with the id of the quoted post alone.
    "Post:q1": { __typename: "Post", id: "q1", quotedPostId: "known" },
    "Post:q2": { __typename: "Post", id: "q2", quotedPostId: "other" },
    "Post:q3": { __typename: "Post", id: "q3", quotedPostId: "gone" },
    "Post:plain": { __typename: "Post", id: "plain", quotedPostId: null },
  });
  const retwis = { ...createRetwis({ url: "http://localhost/graphql" }), client, details: new PostDetails(client) };
  view = render(
    <RetwisProvider retwis={retwis}>
      {["q1", "q2", "q3", "plain", "pending:k"].map((id) => (
        <View key={id} postId={id} />
      ))}
    </RetwisProvider>,
  );
});
afterEach(() => view.unmount());

function View({ postId }: { postId: string }) {
  create = useCreatePost();
  const quoted = useQuotedPost(postId);
  const count = useQuoteCount("known");
  return <p>{quoted === undefined ? "?" : quoted === null ? "-" : `${quoted.post?.text ?? "deleted"} ${count}`}</p>;
}

/** Waits until these texts are shown. */
async function until(...texts: string[]): Promise<void> {
  await waitFor(() => expect([...view.container.children].map((element) => element.textContent)).toEqual(texts), { timeout: 30_000 });
}
const quoting = (id: string, quoted: string, post: object | null) => ({
  __typename: "Post",
  id,
  likeCount: 0,
  viewerHasLiked: false,
  repostCount: 0,
  viewerHasReposted: false,
  quotedPostId: quoted,
  quotedPost: { __typename: "QuotedPost", postId: quoted, post, unavailable: post ? null : "DELETED" },
});

test("what events do not bring is read once, for all posts together, unless the cache has it", async () => {
  await until("Text of known 1", "?", "?", "-", "?");
  await waitFor(() => expect(asked.length).toBe(1));
  expect(asked[0]).toMatchObject({ operation: "MissingPostDetails", variables: { postIds: ["q2", "q3"] } });
  const other = { ...original("other"), author };
  await act(async () => {
    asked[0]!.answer.next({ data: { nodes: [quoting("q2", "other", other), quoting("q3", "gone", null)] } });
    asked[0]!.answer.complete();
  });
  await until("Text of known 1", "Text of other 1", "deleted 1", "-", "?");
  // What is not known does not make a page incomplete, which would be read again.
  client.cache.modify({ id: "Post:plain", fields: { quotedPostId: () => "unknown" } });
  const from = { __typename: "Post" as const, id: "plain" };
  expect(client.cache.readFragment({ fragment: PostQuoteFragmentDoc, fragmentName: "PostQuote", from })).toMatchObject({ quotedPost: null });
  client.cache.modify({ id: "Post:plain", fields: { quotedPostId: () => null } });
  await act(async () => client.cache.removePost("other"));
  await act(async () => client.cache.removePost("known"));
  await until("deleted 0", "deleted 0", "deleted 0", "-", "?");
  // A page that was read before the deletion arrives.
  const late = { ...original("other"), author };
  const write = () => client.cache.writeQuery({ query: MissingPostDetailsDocument, variables: { postIds: ["q2"] }, data: { nodes: [quoting("q2", "other", late)] } as never });
  await act(async () => void write());
  await until("deleted 0", "deleted 0", "deleted 0", "-", "?");
  expect(asked.length).toBe(1);
});

test("a quote shows its original at once and counts, and no longer if it fails", async () => {
  const quote = { text: "a quote", author, homeTimelineId: "h", quotedPostId: "known", idempotencyKey: "k" };
  let sent: Promise<unknown> = Promise.resolve();
  await act(async () => {
    sent = create(quote);
    sent.catch(() => {});
  });
  await until("Text of known 2", "?", "?", "-", "Text of known 2");
  const mutation = asked.find(({ operation }) => operation === "CreatePost");
  expect(mutation?.variables["input"]).toEqual({ text: "a quote", quotedPostId: "known", idempotencyKey: "k" });
  await act(async () => mutation?.answer.error(new Error("offline")));
  await expect(sent).rejects.toThrow("offline");
  await until("Text of known 1", "?", "?", "-", "?");
});
