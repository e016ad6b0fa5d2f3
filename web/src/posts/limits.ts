import { countGraphemes, normalizeText } from "../api/text.ts";

export const maxPostGraphemes = 280;
export const maxPostBytes = 4_096;

const encoder = new TextEncoder();

export interface PostCheck {
  /** How many characters are left; negative if the text is too long. */
  left: number;
  /** The text can be sent. */
  ok: boolean;
  /** The text has too many bytes, which the number of characters does not show. */
  tooManyBytes: boolean;
}

/** Checks a text against the server's limits for posts. */
export function checkPost(text: string): PostCheck {
  const normal = normalizeText(text);
  const left = maxPostGraphemes - countGraphemes(text);
  const tooManyBytes = encoder.encode(normal).length > maxPostBytes;
  return { left, ok: normal !== "" && left >= 0 && !tooManyBytes, tooManyBytes };
}
