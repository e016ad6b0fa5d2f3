import { ApolloClient, ApolloLink } from "@apollo/client";
import { act, render, waitFor, type RenderResult } from "@testing-library/react";
import { Observable, type Subscriber } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { RetwisCache } from "./cache.ts";
import { PostLikesFragmentDoc } from "./generated.ts";
import { createRetwis, RetwisProvider, useLikePost, useLikes, type PostErrors } from "./index.ts";

let asked: { operation: string | undefined; answer: Subscriber<ApolloLink.Result> }[];
let client: RetwisApolloClient;
let view: RenderResult;
let like: ReturnType<typeof useLikePost>;

beforeEach(() => {
  asked = [];
  const link = new ApolloLink(({ operationName }) => new Observable<ApolloLink.Result>((answer) => void asked.push({ operation: operationName, answer })));
  client = new ApolloClient({ cache: new RetwisCache(), dataMasking: true, link }) as RetwisApolloClient;
  // As an event brings a post: it does not say whether the viewer likes it.
  client.cache.restore({ "Post:p": { __typename: "Post", id: "p", likeCount: 2 } });
  view = render(
    <RetwisProvider retwis={{ ...createRetwis({ url: "http://localhost/graphql" }), client }}>
      <View />
    </RetwisProvider>,
  );
});
afterEach(() => view.unmount());

function View() {
  like = useLikePost();
  const likes = useLikes("p");
  return <p>{likes && `${likes.likeCount} ${likes.liked}`}</p>;
}

/** Waits until a text is shown. */
async function until(text: string): Promise<void> {
  await waitFor(() => expect(view.container.textContent).toBe(text), { timeout: 30_000 });
}
async function change(liked: boolean): Promise<{ errors: Promise<PostErrors> }> {
  let errors: Promise<PostErrors> = Promise.resolve([]);
  await act(async () => {
    errors = like("p", liked);
    errors.catch(() => {});
  });
  return { errors };
}
async function answer(result: ApolloLink.Result | Error): Promise<void> {
  await act(async () => {
    const { answer } = asked.shift()!;
    if (result instanceof Error) return answer.error(result);
    answer.next(result);
    answer.complete();
  });
}
const payload = (likeCount: number, viewerHasLiked: boolean) => ({
  __typename: "LikePayload",
  post: { __typename: "Post", id: "p", likeCount, viewerHasLiked },
  userErrors: [],
});

test("a like shows at once, and then what the server says", async () => {
  await until("2 false");
  const { errors } = await change(true);
  await until("3 true");
  expect(asked[0]?.operation).toBe("LikePost");
  await answer({ data: { likePost: payload(5, true) } });
  await until("5 true");
  expect(await errors).toEqual([]);
  await change(false);
  await until("4 false");
  expect(asked[0]?.operation).toBe("UnlikePost");
  await answer({ data: { unlikePost: payload(4, false) } });
  await until("4 false");
});

test("a like that fails is undone", async () => {
  const refused = await change(true);
  await until("3 true");
  await answer({
    data: { likePost: { __typename: "LikePayload", post: null, userErrors: [{ __typename: "UserError", code: "NOT_FOUND", field: null, message: "gone" }] } },
  });
  await until("2 false");
  expect((await refused.errors)[0]?.code).toBe("NOT_FOUND");
  const failed = await change(true);
  await until("3 true");
  await answer(new Error("offline"));
  await expect(failed.errors).rejects.toThrow("offline");
  await until("2 false");
  expect(client.cache.readFragment({ fragment: PostLikesFragmentDoc, from: { __typename: "Post", id: "p" } })?.viewerHasLiked).toBe(false);
});

test("a like that is taken back before it was answered counts once", async () => {
  await change(true);
  await until("3 true");
  await change(false);
  await until("2 false");
  await answer({ data: { likePost: payload(3, true) } });
  await until("2 false");
  await answer({ data: { unlikePost: payload(2, false) } });
  await until("2 false");
});
