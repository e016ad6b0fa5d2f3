/** A post that the reader is asked about before it is deleted. */
export interface Deletion {
  postId: string;
  authorId: string;
  /** Called before the post disappears. */
  onDeleted?: (() => void) | undefined;
}

let asked: Deletion | undefined;
const listeners = new Set<() => void>();

/** Asks the reader whether to delete a post, or stops asking. A list may meanwhile remove the post from the page and render it again. */
export function askToDelete(deletion: Deletion | undefined): void {
  asked = deletion;
  listeners.forEach((notify) => notify());
}

/** Returns the post that the reader is asked about. */
export function askedDeletion(): Deletion | undefined {
  return asked;
}

/** Calls a listener whenever the reader is asked about another post. */
export function watchDeletion(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
