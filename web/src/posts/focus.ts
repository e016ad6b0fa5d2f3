import { postElement, whileSettling } from "@retwis/client";

/** Returns the id of the post that has the focus, or in which something has it. */
export function focusedPost(): string | undefined {
  return document.activeElement?.closest<HTMLElement>("[data-post-id]")?.dataset["postId"];
}

/** Moves the focus to a post, if it is rendered. */
export function focusPost(id: string): boolean {
  const element = postElement(id);
  element?.focus({ preventScroll: true });
  return element !== null && document.activeElement === element;
}

/** Moves the focus from a deleted post to the next one of a list, or to the page if it was the only one. */
export function focusNeighbour(ids: readonly string[], deleted: string): void {
  const index = ids.indexOf(deleted);
  const neighbour = ids[index + 1] ?? ids[index - 1];
  whileSettling(() => {
    // The dialog disappears with the post. Until then nothing else can have the focus.
    const element = (neighbour === undefined ? null : postElement(neighbour)) ?? document.getElementById("main");
    if (postElement(deleted)) return false;
    element?.focus({ preventScroll: true });
    return document.activeElement === element;
  });
}
