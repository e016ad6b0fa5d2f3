import { useFragment } from "@apollo/client/react";
import { PostRepostsFragmentDoc } from "./generated.ts";
import { useMissingDetails } from "./postDetails.ts";

/** The reposts of a post. */
export interface PostReposts {
  repostCount: number;
  /** Whether the viewer has reposted the post. */
  reposted: boolean;
}

/** Returns the reposts of a post, as far as the cache knows. */
export function useReposts(postId: string): PostReposts | undefined {
  const { data, complete } = useFragment({ fragment: PostRepostsFragmentDoc, from: { __typename: "Post", id: postId } });
  useMissingDetails(postId, complete && data.viewerHasReposted === null);
  return complete ? { repostCount: data.repostCount, reposted: data.viewerHasReposted ?? false } : undefined;
}
