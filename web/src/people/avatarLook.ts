const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The first letter of a display name. */
export function initialOf(displayName: string): string {
  const [first] = segmenter.segment(displayName);
  return first?.segment.toUpperCase() ?? "";
}

/** One of 360 hues and two depths, each dark enough for light letters. FNV-1a spreads similar names. */
export function colourOf(username: string): string {
  let hash = 0x811c9dc5;
  for (const letter of username) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  return `oklch(${hash & 0x10000 ? 0.46 : 0.38} 0.09 ${hash % 360})`;
}
