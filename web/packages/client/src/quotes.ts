import type { ApolloCache } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import { useEffect } from "react";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { PostQuoteCountFragmentDoc, PostQuoteFragmentDoc, QuotedPostsDocument, type QuotedContentFragment } from "./generated.ts";
import { isPending } from "./pending.ts";
import { useRetwis } from "./retwis.ts";

/** The most ids of one request. */
const maxIds = 100;

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
  const { quotes } = useRetwis();
  const { data, complete } = useFragment({ fragment: PostQuoteFragmentDoc, fragmentName: "PostQuote", from: { __typename: "Post", id: postId } });
  const unknown = complete && data.quotedPostId !== null && data.quotedPost === null;
  useEffect(() => {
    if (unknown && !isPending(postId)) quotes.read(postId);
  }, [quotes, unknown, postId]);
  return complete && !unknown ? data.quotedPost : undefined;
}

/** Returns the number of quotes of a post whose thread was read; 0 for others. */
export function useQuoteCount(postId: string): number {
  const { data } = useFragment({ fragment: PostQuoteCountFragmentDoc, from: { __typename: "Post", id: postId } });
  return data.quoteCount ?? 0;
}

/** Reads quoted posts into the cache: those that are needed at the same time together. */
export class Quotes {
  private readonly client: RetwisApolloClient;
  private readonly asked = new Set<string>();
  private waiting: string[] = [];

  constructor(client: RetwisApolloClient) {
    this.client = client;
  }

  /** Reads what a post quotes, unless that is being read. After a failure it may be called again. */
  read(postId: string): void {
    if (this.asked.has(postId)) return;
    this.asked.add(postId);
    this.waiting.push(postId);
    if (this.waiting.length === 1) setTimeout(() => this.send());
  }

  private send(): void {
    const ids = this.waiting;
    this.waiting = [];
    for (let i = 0; i < ids.length; i += maxIds) void this.request(ids.slice(i, i + maxIds));
  }

  private async request(postIds: string[]): Promise<void> {
    await this.client.query({ query: QuotedPostsDocument, variables: { postIds }, fetchPolicy: "network-only" }).catch(() => {});
    for (const id of postIds) this.asked.delete(id);
  }
}

/** Changes the number of quotes of a post, if the cache knows it. */
export function changeQuoteCount(cache: ApolloCache, postId: string, change: 1 | -1): void {
  const id = cache.identify({ __typename: "Post", id: postId }) ?? "";
  cache.modify<{ quoteCount: number }>({ id, fields: { quoteCount: (count) => Math.max(count + change, 0) } });
}
