/** Returns the path of the page of a post and its thread. */
export function postPath(postId: string): string {
  return `/post/${encodeURIComponent(postId)}`;
}
