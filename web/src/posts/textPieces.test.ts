import { expect, test } from "vitest";
import { splitText, type TextEntity } from "./textPieces.ts";

const link = (start: number, end: number): TextEntity => ({ start, end, url: "https://example.com" });
const mention = (start: number, end: number): TextEntity => ({ start, end, user: { username: "alice" } });

const hashtag = (start: number, end: number): TextEntity => ({ start, end, name: "later" });

/** The pieces, links in brackets, mentions in braces, and hashtags in angle brackets. */
const split = (text: string, entities: TextEntity[]) =>
  splitText(text, entities)
    .map((piece) => (piece.url ? `[${piece.text}]` : piece.username ? `{${piece.text}}` : piece.tag ? `<${piece.text}>` : piece.text))
    .join("|");

test.each<[string, TextEntity[], string]>([
  ["plain", [], "plain"],
  ["", [], ""],
  ["@alice", [mention(0, 6)], "{@alice}"],
  ["a @alice b http://é.de", [mention(2, 8), link(11, 22)], "a |{@alice}| b |[http://é.de]"],
  ["👩‍👩‍👧 @alice", [mention(6, 12)], "👩‍👩‍👧 |{@alice}"],
  ["#later @alice", [hashtag(0, 6), mention(7, 13)], "<#later>| |{@alice}"],
  ["$later @alice", [{ start: 0, end: 6 }, mention(7, 13)], "$later |{@alice}"],
])("%s", (text, entities, want) => {
  expect(split(text, entities)).toBe(want);
});
