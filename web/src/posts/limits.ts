export const maxPostGraphemes = 280;
export const maxPostBytes = 10_240;
export const maxDisplayNameGraphemes = 50;
export const maxBioGraphemes = 160;

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const encoder = new TextEncoder();

/** The characters of a text as a reader counts them, after what the server does to it. */
export function countGraphemes(text: string): number {
  let count = 0;
  for (const _ of segmenter.segment(normalize(text))) count++;
  return count;
}

export interface PostCheck {
  /** Characters that may still be written; below zero when it is too long. */
  left: number;
  /** It may be sent. */
  ok: boolean;
  /** Why it may not be, where the count does not say it. */
  problem?: string;
}

/** Says whether the server would take a text as a post, as far as can be told here. */
export function checkPost(text: string): PostCheck {
  const normal = normalize(text);
  const left = maxPostGraphemes - countGraphemes(text);
  if (encoder.encode(normal).length > maxPostBytes) {
    return { left, ok: false, problem: "This takes more space than a post has: use fewer combined characters." };
  }
  return { left, ok: normal !== "" && left >= 0 };
}

function normalize(text: string): string {
  return text.trim().replace(/\r\n?|[\u2028\u2029]/g, "\n").normalize("NFC");
}
