import type { ApolloCache } from "@apollo/client";
import { useEffect } from "react";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { MissingPostDetailsDocument, PostLikesFragmentDoc, PostRepostsFragmentDoc } from "./generated.ts";
import { isPending } from "./pending.ts";
import { useRetwis } from "./retwis.ts";

/** The most ids of one request. */
const maxIds = 100;

/**
 * Reads the details of posts into the cache, which pages bring and events do not: for the posts that need them at the
 * same time together.
 */
export class PostDetails {
  private readonly client: RetwisApolloClient;
  private readonly asked = new Set<string>();
  private waiting: string[] = [];

  constructor(client: RetwisApolloClient) {
    this.client = client;
  }

  /** Reads the details of a post, unless they are being read. After a failure it may be called again. */
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
    await this.client.query({ query: MissingPostDetailsDocument, variables: { postIds }, fetchPolicy: "network-only" }).catch(() => {});
    for (const id of postIds) this.asked.delete(id);
  }
}

/** Reads the details of a post that is rendered, if they are missing. */
export function useMissingDetails(postId: string, missing: boolean): void {
  const { details } = useRetwis();
  useEffect(() => {
    if (missing && !isPending(postId)) details.read(postId);
  }, [details, missing, postId]);
}

/**
 * Marks the likes and reposts of a post as unknown, unless the cache has them: an event brought a repost of it. New posts
 * need no mark. Nobody has liked or reposted them yet.
 */
export function markUnknown(cache: ApolloCache, postId: string): void {
  const post = { __typename: "Post" as const, id: postId };
  let known = false;
  cache.modify<{ viewerHasReposted: boolean | null }>({
    id: cache.identify(post) ?? "",
    fields: {
      viewerHasReposted(stored) {
        known = true;
        return stored;
      },
    },
  });
  if (known) return;
  const likeCount = cache.readFragment({ fragment: PostLikesFragmentDoc, from: post })?.likeCount ?? 0;
  cache.writeFragment({ fragment: PostLikesFragmentDoc, data: { ...post, likeCount, viewerHasLiked: null as never } });
  cache.writeFragment({ fragment: PostRepostsFragmentDoc, data: { ...post, repostCount: 0, viewerHasReposted: null as never } });
}
