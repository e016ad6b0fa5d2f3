/** Returns the path of the page of a hashtag, which is the same for all spellings of its name. */
export function tagPath(name: string): string {
  return `/tag/${encodeURIComponent(foldTag(name))}`;
}

/** Returns the spelling of a hashtag's name in paths. */
export function foldTag(name: string): string {
  return name.normalize("NFKC").toLowerCase().replace(/^#/, "");
}
