/** The ids of a list, and the number that the virtual list gives to the first of them. */
export interface Numbered {
  ids: readonly string[];
  first: number;
}

/** High enough that no timeline grows below zero. */
export const startIndex = 1_000_000;

/**
 * Numbers a changed list so that what the reader looks at keeps its number, and with it
 * its place on the screen: `anchor`, or the next one below it that is still there. Without
 * an anchor the list is looked at from its head, and what is new pushes the rest down.
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
