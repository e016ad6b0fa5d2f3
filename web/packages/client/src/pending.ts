const prefix = "pending:";

/** Returns the temporary id of a post that is being sent. */
export function pendingId(key: string): string {
  return prefix + key;
}

/** Reports whether an id is that of a post that is being sent. */
export function isPending(postId: string): boolean {
  return postId.startsWith(prefix);
}
