/** The ids of a list, and the number that the virtual list gives to the first of them. */
export interface Numbered {
  ids: readonly string[];
  first: number;
}

/** The first number, high enough that no timeline reaches zero. */
export const startIndex = 1_000_000;

/**
 * Numbers a changed list so that the post the reader sees keeps its number, and thereby its
 * place on the screen: `anchor`, or the next post below it that is still in the list. Without
 * an anchor the reader sees the head, and new posts move the others down.
 */
export function renumber(before: Numbered, ids: readonly string[], anchor: string | undefined): Numbered {
  if (anchor === undefined) return { ids, first: before.first };
  const places = new Map(ids.map((id, i) => [id, i]));
  for (let i = Math.max(before.ids.indexOf(anchor), 0); i < before.ids.length; i++) {
    const now = places.get(before.ids[i] ?? "");
    if (now !== undefined) return { ids, first: before.first + i - now };
  }
  return { ids, first: before.first };
}
