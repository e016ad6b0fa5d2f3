import type { ApolloCache } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import { PostQuoteCountFragmentDoc, PostQuoteFragmentDoc, type QuotedContentFragment } from "./generated.ts";
import { useMissingDetails } from "./postDetails.ts";

/** The post that another one quotes. */
export interface QuotedPost {
  postId: string;
  /** The post; null if it was deleted. */
  post: QuotedContentFragment | null;
}

/**
 * Returns the post that a post quotes: null if it quotes none, undefined while it is not known. Pages of posts bring it; for
 * posts of events it is read when it is needed.
 */
export function useQuotedPost(postId: string): QuotedPost | null | undefined {
  const { data, complete } = useFragment({ fragment: PostQuoteFragmentDoc, fragmentName: "PostQuote", from: { __typename: "Post", id: postId } });
  const unknown = complete && data.quotedPostId !== null && data.quotedPost === null;
  useMissingDetails(postId, unknown);
  return complete && !unknown ? data.quotedPost : undefined;
}

/** Returns the number of quotes of a post whose thread was read; 0 for others. */
export function useQuoteCount(postId: string): number {
  const { data } = useFragment({ fragment: PostQuoteCountFragmentDoc, from: { __typename: "Post", id: postId } });
  return data.quoteCount ?? 0;
}

/** Changes the number of quotes of a post, if the cache knows it. */
export function changeQuoteCount(cache: ApolloCache, postId: string, change: 1 | -1): void {
  const id = cache.identify({ __typename: "Post", id: postId }) ?? "";
  cache.modify<{ quoteCount: number }>({ id, fields: { quoteCount: (count) => Math.max(count + change, 0) } });
}
