// The server's rule for the start of a mention, in short: an @ that is not part of an address or a URL.
const mayNotPrecede = String.raw`(?<![\p{L}\p{Nd}\p{M}_@.+\-/%=&#~])`;
const beingWritten = new RegExp(String.raw`${mayNotPrecede}@([A-Za-z0-9_]{1,20})$`, "u");

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
