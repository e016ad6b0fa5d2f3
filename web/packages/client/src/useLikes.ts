import { useFragment, useMutation } from "@apollo/client/react";
import { useCallback } from "react";
import { LikePostDocument, PostLikesFragmentDoc, UnlikePostDocument } from "./generated.ts";
import { useMissingDetails } from "./postDetails.ts";
import { useRetwis } from "./retwis.ts";
import type { PostErrors } from "./usePosts.ts";

/** The likes of a post. */
export interface PostLikes {
  likeCount: number;
  /** Whether the viewer likes the post. */
  liked: boolean;
}

/** Returns the likes of a post, as far as the cache knows. */
export function useLikes(postId: string): PostLikes | undefined {
  const { data, complete } = useFragment({ fragment: PostLikesFragmentDoc, from: { __typename: "Post", id: postId } });
  useMissingDetails(postId, complete && data.viewerHasLiked === null);
  return complete ? { likeCount: data.likeCount, liked: data.viewerHasLiked ?? false } : undefined;
}

/**
 * Returns a function with which the viewer likes a post, or no longer likes it. The change shows at once, and is
 * undone if it fails.
 */
export function useLikePost(): (postId: string, liked: boolean) => Promise<PostErrors> {
  const { client } = useRetwis();
  const [like] = useMutation(LikePostDocument);
  const [unlike] = useMutation(UnlikePostDocument);
  return useCallback(
    async (postId, liked) => {
      const from = { __typename: "Post" as const, id: postId };
      const known = client.cache.readFragment({ fragment: PostLikesFragmentDoc, from }, true);
      const likeCount = Math.max((known?.likeCount ?? 0) + (liked ? 1 : -1), 0);
      const payload = {
        __typename: "LikePayload" as const,
        post: { ...from, likeCount, viewerHasLiked: liked },
        userErrors: [],
      };
      const variables = { postId };
      const { data } = liked
        ? await like({ variables, optimisticResponse: { likePost: payload } as never })
        : await unlike({ variables, optimisticResponse: { unlikePost: payload } as never });
      const result = data && ("likePost" in data ? data.likePost : data.unlikePost);
      return result?.userErrors ?? [];
    },
    [client, like, unlike],
  );
}
