// The server's limits for texts of users, and how it counts.

export const maxDisplayNameGraphemes = 50;
export const maxBioGraphemes = 160;
export const maxListNameGraphemes = 50;

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Counts the characters of a text as a reader does, after the normalisation of the server. */
export function countGraphemes(text: string): number {
  let count = 0;
  for (const _ of segmenter.segment(normalizeText(text))) count++;
  return count;
}

/** Normalises a text as the server does. */
export function normalizeText(text: string): string {
  return text.trim().replace(/\r\n?|[\u2028\u2029]/g, "\n").normalize("NFC");
}
