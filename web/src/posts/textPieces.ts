/** A part of a text that refers to something. Positions count Unicode code points. */
export interface TextEntity {
  start: number;
  end: number;
  /** Of a link. */
  url?: string;
  /** Of a mention. */
  user?: { username: string };
  /** Of a hashtag. */
  name?: string;
}

/** A piece of a text: plain, a link, a mention, or a hashtag. */
export interface TextPiece {
  text: string;
  url?: string | undefined;
  username?: string | undefined;
  tag?: string | undefined;
}

/** Splits a text at its entities, which are in order. Entities of types that are not known here are plain text. */
export function splitText(text: string, entities: readonly TextEntity[]): TextPiece[] {
  const codePoints = [...text];
  const part = (from: number, to?: number) => codePoints.slice(from, to).join("");
  const pieces: TextPiece[] = [];
  let last = 0;
  for (const { start, end, url, user, name } of entities) {
    if (!url && !user && !name) continue;
    pieces.push({ text: part(last, start) }, { text: part(start, end), url, username: user?.username, tag: name });
    last = end;
  }
  pieces.push({ text: part(last) });
  return pieces.filter((piece) => piece.text);
}

/** The text with one blank line where it has several in a row. */
export function collapseBlankLines(text: string): string {
  return text.replace(/\n(?:[^\S\n]*\n){2,}/g, "\n\n");
}
