import type { ApolloCache } from "@apollo/client";
import { useMutation } from "@apollo/client/react";
import { useCallback } from "react";
import { PostRepostsFragmentDoc, RepostPostDocument, UndoRepostDocument, ViewerTimelinesDocument, type RepostPostMutation, type UndoRepostMutation } from "./generated.ts";
import { useRetwis } from "./retwis.ts";
import type { PostErrors } from "./usePosts.ts";

/**
 * Returns a function with which the viewer reposts a post, or undoes that. The change shows at the post at once, and is
 * undone if it fails. The server decides which timelines show the repost; their events bring it. A repost that was undone
 * disappears from all timelines; `onUndone` is called just before.
 */
export function useRepostPost(): (postId: string, reposted: boolean, onUndone?: () => void) => Promise<PostErrors> {
  const { client, ownPosts } = useRetwis();
  const [repost] = useMutation(RepostPostDocument);
  const [undo] = useMutation(UndoRepostDocument);
  return useCallback(
    async (postId, reposted, onUndone) => {
      const post = { __typename: "Post" as const, id: postId };
      const reposts = { fragment: PostRepostsFragmentDoc, from: post };
      const already = client.cache.readFragment(reposts, true)?.viewerHasReposted === reposted;
      const payload = { __typename: "RepostPayload" as const, post: { ...post, viewerHasReposted: reposted }, userErrors: [] };
      // The number of the server may not include this change yet.
      const update = (cache: ApolloCache, result: { post: object | null } | null | undefined) => {
        if (!result?.post) return;
        const known = cache.readFragment(reposts)?.repostCount ?? 0;
        const repostCount = already ? known : Math.max(known + (reposted ? 1 : -1), 0);
        cache.writeFragment({ ...reposts, data: { ...post, repostCount, viewerHasReposted: reposted } });
      };
      const userId = client.cache.readQuery({ query: ViewerTimelinesDocument })?.viewer?.user.id;
      if (userId !== undefined) ownPosts.noteRepost(postId, userId, reposted);
      const variables = { postId };
      const result = reposted
        ? (
            await repost({
              variables,
              optimisticResponse: { repostPost: payload } as RepostPostMutation,
              update: (cache, { data }) => update(cache, data?.repostPost),
            })
          ).data?.repostPost
        : (
            await undo({
              variables,
              optimisticResponse: { undoRepost: payload } as UndoRepostMutation,
              update: (cache, { data }) => update(cache, data?.undoRepost),
            })
          ).data?.undoRepost;
      if (!reposted && result?.post && userId !== undefined) {
        onUndone?.();
        client.cache.removeRepost(postId, userId);
      }
      return result?.userErrors ?? [];
    },
    [client, ownPosts, repost, undo],
  );
}
