import type { ApolloCache, FragmentType } from "@apollo/client";
import { useFragment, useQuery } from "@apollo/client/react";
import { TimelinePostFragmentDoc, type ThreadPageQuery, type TimelinePostFragment } from "./generated.ts";
import type { StoredConnection } from "./pagination.ts";
import { usePaging, type Paging } from "./paging.ts";
import { useRetwis } from "./retwis.ts";

type Page = NonNullable<ThreadPageQuery["thread"]>;

export interface ThreadOptions {
  /** The newest replies come first, after those of the author of the post. */
  newestFirst?: boolean;
  /** Whether the visit is a return, by Back, which shows what was read before. */
  returning?: boolean;
}

export interface Thread {
  /**
   * loading: the thread is being read; the post may be known already. ready: it was read. failed: it could not be read; see
   * `error` and `retry`. missing: there is no such post, or it was deleted and has no replies.
   */
  status: "loading" | "ready" | "failed" | "missing";
  error: unknown;
  retry: () => void;
  /** The posts above, the root first. Of a deep thread these are the root and the nearest 20 posts. */
  ancestors: Page["ancestors"];
  /** There are posts between the root and the next one of `ancestors`. */
  gap: boolean;
  /** The post; null if it was deleted. */
  post: (FragmentType<TimelinePostFragment> & { id: string }) | null;
  replyCount: number;
  /** The replies to the post. Those of its author come first, and those created in this tab before all others. */
  replies: Page["replies"]["edges"];
  /** Pages of further replies. */
  moreReplies: Paging;
}

/** Reads a post, the posts above it and the replies to it. */
export function useThread(postId: string, { newestFirst = false, returning = false }: ThreadOptions = {}): Thread {
  const { documents } = useRetwis();
  const variables = { postId, orderBy: newestFirst ? "NEWEST" : "OLDEST" } as const;
  const { data, previousData, error, refetch, fetchMore } = useQuery(documents.thread, {
    variables,
    // The cached thread is shown while it is read again.
    fetchPolicy: returning ? "cache-first" : "cache-and-network",
    nextFetchPolicy: "cache-first",
  });
  const known = useFragment({ fragment: TimelinePostFragmentDoc, fragmentName: "TimelinePost", from: { __typename: "Post", id: postId } });
  // In another order the thread is the same but for the replies.
  const other = previousData?.thread?.postId === postId ? previousData.thread : undefined;
  const page = data ? data.thread : other && { ...other, replies: undefined };
  const { endCursor = null, hasNextPage = false } = page?.replies?.pageInfo ?? {};
  const paging = usePaging(() => fetchMore({ query: documents.moreReplies, variables: { ...variables, after: endCursor } }));
  const post = page ? page.post : known.complete && page === undefined ? ({ __typename: "Post", id: postId } as NonNullable<Thread["post"]>) : null;
  const [root, next] = page?.ancestors ?? [];
  return {
    status: page === null ? "missing" : page?.replies ? "ready" : error ? "failed" : "loading",
    error,
    retry: () => void refetch(),
    ancestors: page?.ancestors ?? [],
    gap: root !== undefined && Boolean(next?.post) && next?.post?.inReplyToId !== root.postId,
    post,
    replyCount: page?.replyCount ?? 0,
    replies: page?.replies?.edges ?? [],
    moreReplies: { ...paging, more: hasNextPage },
  };
}

/** Adds a new reply to the thread of the post answered, if the cache knows it, and to the numbers of replies. */
export function addReply(cache: ApolloCache, answered: string, replyId: string): void {
  const thread = cache.identify({ __typename: "Thread", postId: answered }) ?? "";
  cache.modify<{ replies: StoredConnection }>({
    id: thread,
    fields: {
      replies(stored, { toReference }) {
        const replies = stored as StoredConnection;
        const node = toReference({ __typename: "Post", id: replyId });
        if (node === undefined || replies.edges.some((edge) => edge.node.__ref === node.__ref)) return replies;
        return { ...replies, edges: [{ __typename: "PostEdge", cursor: "", node }, ...replies.edges] };
      },
    },
  });
  changeReplyCount(cache, answered, 1);
}

/** Changes the numbers of replies to a post that the cache knows. */
export function changeReplyCount(cache: ApolloCache, postId: string, change: 1 | -1): void {
  for (const of of [{ __typename: "Post", id: postId }, { __typename: "Thread", postId }]) {
    cache.modify<{ replyCount: number }>({ id: cache.identify(of) ?? "", fields: { replyCount: (count) => Math.max(count + change, 0) } });
  }
}
