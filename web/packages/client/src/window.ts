import type { ApolloCache } from "@apollo/client";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { RetwisCache } from "./cache.ts";
import type { TimelineDocuments } from "./documents.ts";
import type { TimelinePageQuery } from "./generated.ts";
import type { Entry } from "./ownPosts.ts";
import type { StoredConnection } from "./pagination.ts";

/** How many posts one page has. */
export const pageSize = 30;

/** A page of posts, as a query returns it. */
export type PostPage = Extract<NonNullable<TimelinePageQuery["node"]>, { __typename: "Timeline" }>["posts"];

/** An entry to be added at the head of a timeline. */
export interface NewEntry extends Entry {
  cursor: string;
  reason: { user: { id: string }; createdAt: string } | null;
}

/**
 * The window of a timeline: the contiguous posts that have been read so far, as the cache
 * holds them. Its first edge is the timeline's head unless `pageInfo.hasPreviousPage` is true.
 */
export class TimelineWindow {
  readonly timelineId: string;
  private readonly client: RetwisApolloClient;
  private readonly documents: TimelineDocuments;

  constructor(client: RetwisApolloClient, documents: TimelineDocuments, timelineId: string) {
    this.client = client;
    this.documents = documents;
    this.timelineId = timelineId;
  }

  /** Returns the window; undefined if nothing has been read. */
  read(): PostPage | undefined {
    const timeline = this.client.cache.readFragment({
      id: cacheId(this.client.cache, this.timelineId),
      fragment: this.documents.window,
      fragmentName: "TimelineWindow",
    });
    return timeline?.posts;
  }

  /** Reads the next page at either end of the window into the cache. */
  async readPage(where: { after: string } | { before: string }): Promise<void> {
    const variables = { ...("after" in where ? { first: pageSize } : { last: pageSize }), ...where };
    const posts = await this.fetch(variables);
    if (posts) this.write(variables, posts);
  }

  /** Replaces the window by the newest posts. */
  async readHead(): Promise<void> {
    const posts = await this.fetch({ first: pageSize });
    if (posts) this.write({}, posts);
  }

  /**
   * Replaces the window by the posts that the timeline holds now around a cursor, so that a
   * reader keeps the place. Without a cursor it reads the newest posts.
   */
  async readAround(cursor: string | undefined): Promise<void> {
    if (cursor === undefined) return this.readHead();
    const older = await this.fetch({ first: pageSize, after: cursor });
    // Reading back from the first of these includes the post at the cursor itself, if it still exists.
    const below = older?.edges[0]?.cursor;
    const newer = await this.fetch({ last: pageSize, ...(below !== undefined && { before: below }) });
    if (older && newer) this.write({}, joinPages(newer, older));
  }

  /** Returns the id of the oldest entry above a marker. */
  async oldestUnread(marker: string): Promise<string | undefined> {
    const posts = await this.fetch({ last: 1, before: marker });
    return posts?.edges[0]?.entryId;
  }

  private async fetch(where: Where): Promise<PostPage | undefined> {
    const { data } = await this.client.query({
      query: this.documents.page,
      variables: { id: this.timelineId, ...where },
      // A cached result would make Apollo read the whole window back.
      fetchPolicy: "no-cache",
    });
    return data?.node?.__typename === "Timeline" ? data.node.posts : undefined;
  }

  private write(where: Where, posts: PostPage): void {
    this.client.cache.writeQuery({
      query: this.documents.page,
      variables: { id: this.timelineId, ...where },
      data: { node: { __typename: "Timeline", id: this.timelineId, posts } },
    });
  }
}

type Where = { first?: number; after?: string; last?: number; before?: string };

/** Returns the entry of a timeline that shows a post itself. */
export function entryOfPost(cursor: string, postId: string): NewEntry {
  return { cursor, entryId: postId, node: { id: postId }, reason: null };
}

/**
 * Adds entries, oldest first, at the head of the window. An entry that is in the window keeps its
 * place. A window that does not begin at the head stays as it is.
 */
export function prependEntries(cache: ApolloCache, timelineId: string, entries: readonly NewEntry[]): void {
  const isDeleted = (id: string) => cache instanceof RetwisCache && cache.isDeleted(id);
  cache.modify<{ posts: StoredConnection }>({
    id: cacheId(cache, timelineId),
    fields: {
      posts(stored, { toReference }) {
        const posts = stored as StoredConnection;
        if (posts.pageInfo.hasPreviousPage) return posts;
        const known = new Set(posts.edges.map((edge) => edge.entryId));
        const fresh = [];
        for (const { cursor, entryId, node: { id }, reason } of entries) {
          const node = toReference({ __typename: "Post", id });
          if (node === undefined || known.has(entryId) || isDeleted(entryId) || isDeleted(id)) continue;
          known.add(entryId);
          fresh.unshift({
            __typename: "PostEdge",
            cursor,
            entryId,
            node,
            reason: reason && { __typename: "Repost", createdAt: reason.createdAt, user: toReference({ __typename: "User", id: reason.user.id }) },
          });
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

/** Joins two adjacent pages. */
function joinPages(newer: PostPage, older: PostPage): PostPage {
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
