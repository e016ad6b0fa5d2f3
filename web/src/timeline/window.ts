import type { ApolloCache } from "@apollo/client";
import { AppCache } from "../api/cache.ts";
import type { StoredConnection } from "../api/pagination.ts";
import { Feed_TimelineFragmentDoc, TimelinePageDocument, type TimelinePageQuery } from "../api/generated.ts";
import type { AppClient } from "../api/client.ts";

/** How many posts one page has. */
export const pageSize = 30;

/** A page of posts, as a query returns it. */
export type PostPage = Extract<NonNullable<TimelinePageQuery["node"]>, { __typename: "Timeline" }>["posts"];

/** A post that is to appear at the head of a timeline. */
export interface NewEdge {
  cursor: string;
  postId: string;
}

/**
 * The window: the stretch of a timeline that has been read so far, as the cache holds it.
 * Its first edge is the timeline's head unless `pageInfo.hasPreviousPage` says otherwise.
 */
export function readWindow(client: AppClient, timelineId: string): PostPage | undefined {
  const timeline = client.cache.readFragment({
    id: cacheId(client.cache, timelineId),
    fragment: Feed_TimelineFragmentDoc,
    fragmentName: "Feed_timeline",
  });
  return timeline?.posts;
}

/**
 * Puts posts, oldest first, at the head of the window. One that is there already stays
 * where it is. Where the window is not at the timeline's head nothing happens.
 */
export function prependPosts(cache: ApolloCache, timelineId: string, edges: readonly NewEdge[]): void {
  const buried = (postId: string) => cache instanceof AppCache && cache.isBuried(postId);
  cache.modify<{ posts: StoredConnection }>({
    id: cacheId(cache, timelineId),
    fields: {
      posts(stored, { toReference }) {
        const posts = stored as StoredConnection;
        if (posts.pageInfo.hasPreviousPage) return posts;
        const known = new Set(posts.edges.map((edge) => edge.node.__ref));
        const fresh = [];
        for (const { cursor, postId } of edges) {
          const node = toReference({ __typename: "Post", id: postId });
          if (node === undefined || known.has(node.__ref) || buried(postId)) continue;
          known.add(node.__ref);
          fresh.unshift({ __typename: "PostEdge", cursor, node });
        }
        const first = fresh[0];
        if (first === undefined) return posts;
        return {
          ...posts,
          edges: [...fresh, ...posts.edges],
          pageInfo: { ...posts.pageInfo, startCursor: first.cursor, endCursor: posts.pageInfo.endCursor ?? fresh.at(-1)?.cursor ?? null },
        };
      },
    },
  });
}

/** Reads the next page at either end of the window into the cache. */
export async function readPage(client: AppClient, timelineId: string, where: { after: string } | { before: string }): Promise<void> {
  const variables = { ...("after" in where ? { first: pageSize } : { last: pageSize }), ...where };
  const posts = await fetchPosts(client, timelineId, variables);
  if (posts) writePosts(client, timelineId, variables, posts);
}

/** Replaces the window by the newest posts. */
export async function readHead(client: AppClient, timelineId: string): Promise<void> {
  const posts = await fetchPosts(client, timelineId, { first: pageSize });
  if (posts) writePosts(client, timelineId, {}, posts);
}

/**
 * Replaces the window by what the timeline holds now around a place in it, so that
 * somebody who reads there stays there. Without a place it is the newest posts.
 */
export async function readAround(client: AppClient, timelineId: string, cursor: string | undefined): Promise<void> {
  if (cursor === undefined) return readHead(client, timelineId);
  const older = await fetchPosts(client, timelineId, { first: pageSize, after: cursor });
  // Reading back from the first of those, or from the end, the post at the place itself is there too, if it still is.
  const below = older?.edges[0]?.cursor;
  const newer = await fetchPosts(client, timelineId, { last: pageSize, ...(below !== undefined && { before: below }) });
  if (older && newer) writePosts(client, timelineId, {}, joinPages(newer, older));
}

type Where = { first?: number; after?: string; last?: number; before?: string };

async function fetchPosts(client: AppClient, timelineId: string, where: Where): Promise<PostPage | undefined> {
  const { data } = await client.query({
    query: TimelinePageDocument,
    variables: { id: timelineId, ...where },
    // Otherwise Apollo would read the whole window back as the result.
    fetchPolicy: "no-cache",
  });
  return data?.node?.__typename === "Timeline" ? data.node.posts : undefined;
}

function writePosts(client: AppClient, timelineId: string, where: Where, posts: PostPage): void {
  client.cache.writeQuery({
    query: TimelinePageDocument,
    variables: { id: timelineId, ...where },
    data: { node: { __typename: "Timeline", id: timelineId, posts } },
  });
}

/** One page of two that follow each other. */
export function joinPages(newer: PostPage, older: PostPage): PostPage {
  return {
    ...newer,
    edges: [...newer.edges, ...older.edges],
    pageInfo: {
      ...newer.pageInfo,
      startCursor: newer.pageInfo.startCursor ?? older.pageInfo.startCursor,
      endCursor: older.pageInfo.endCursor ?? newer.pageInfo.endCursor,
      hasNextPage: older.pageInfo.hasNextPage,
    },
  };
}

function cacheId(cache: ApolloCache, timelineId: string): string {
  return cache.identify({ __typename: "Timeline", id: timelineId }) ?? "";
}
