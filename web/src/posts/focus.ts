import { entryElement, whileSettling } from "@retwis/client";

/** Returns the id of the post that has the focus, or in which something has it. */
export function focusedPost(): string | undefined {
  return focusedData("postId");
}

/** Returns the id of the entry that has the focus, or in which something has it. */
export function focusedEntry(): string | undefined {
  return focusedData("entryId");
}

function focusedData(name: "postId" | "entryId"): string | undefined {
  return document.activeElement?.closest<HTMLElement>("[data-post-id]")?.dataset[name];
}

/** Moves the focus to an entry, if it is rendered. */
export function focusEntry(entryId: string): boolean {
  const element = entryElement(entryId);
  element?.focus({ preventScroll: true });
  return element !== null && document.activeElement === element;
}

/** Moves the focus from a removed entry to the next one of a list, or to the page if it was the only one. */
export function focusNeighbour(ids: readonly string[], removed: string): void {
  const index = ids.indexOf(removed);
  const neighbour = ids[index + 1] ?? ids[index - 1];
  whileSettling(() => {
    // The dialog disappears with the entry. Until then nothing else can have the focus.
    const element = (neighbour === undefined ? null : entryElement(neighbour)) ?? document.getElementById("main");
    if (entryElement(removed)) return false;
    element?.focus({ preventScroll: true });
    return document.activeElement === element;
  });
}
