const prefix = "pending:";

/** The id of a post that is on its way to the server. */
export function pendingId(key: string): string {
  return prefix + key;
}

/** Whether a post is on its way to the server. */
export function isPending(postId: string): boolean {
  return postId.startsWith(prefix);
}
