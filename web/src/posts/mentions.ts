// The server's rule for mentions, in short: an @ that is not part of an address or a URL, and
// a username that ends where the letters end.
const mayNotPrecede = String.raw`(?<![\p{L}\p{Nd}\p{M}_@.+\-/%=&#~])`;
const mention = new RegExp(String.raw`${mayNotPrecede}@([A-Za-z0-9_]{3,20})(?![A-Za-z0-9_@\p{L}\p{Nd}\p{M}]|\.[A-Za-z0-9_])`, "gu");
const beingWritten = new RegExp(String.raw`${mayNotPrecede}@([A-Za-z0-9_]{1,20})$`, "u");

/** A piece of a text: plain, or a mention of the user with this username. */
export interface Piece {
  text: string;
  username?: string;
}

/** Splits a text at the mentions of these users. */
export function splitMentions(text: string, users: readonly { username: string }[]): Piece[] {
  if (users.length === 0) return [{ text }];
  const names = new Map(users.map(({ username }) => [username.toLowerCase(), username]));
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(mention)) {
    const username = names.get((match[1] ?? "").toLowerCase());
    if (username === undefined || inUrl(text.slice(0, match.index))) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) });
    pieces.push({ text: match[0], username });
    end = match.index + match[0].length;
  }
  if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end) });
  return pieces;
}

/** Returns the mention that ends at a caret: the index of its @, and the username as far as it is written. */
export function mentionBefore(text: string, caret: number): { at: number; prefix: string } | undefined {
  const before = text.slice(0, caret);
  const match = beingWritten.exec(before);
  if (!match || inUrl(before.slice(0, match.index)) || /^[A-Za-z0-9_]/.test(text.slice(caret))) return undefined;
  return { at: match.index, prefix: match[1] ?? "" };
}

function inUrl(before: string): boolean {
  const word = /\S*$/u.exec(before)?.[0] ?? "";
  return word.includes("://") || /^www\./i.test(word);
}
