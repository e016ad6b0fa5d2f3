import { expect, test } from "vitest";
import { mentionBefore, splitMentions } from "./mentions.ts";

const users = [{ username: "alice" }, { username: "Bob_2" }];

/** The pieces, mentions in brackets. */
const split = (text: string) =>
  splitMentions(text, users)
    .map((piece) => (piece.username === undefined ? piece.text : `[${piece.text}=${piece.username}]`))
    .join("");

test.each([
  ["hello", "hello"],
  ["", ""],
  ["@alice", "[@alice=alice]"],
  ["@ALICE, and (@bob_2)!", "[@ALICE=alice], and ([@bob_2=Bob_2])!"],
  ["@alice\n@alice", "[@alice=alice]\n[@alice=alice]"],
  ["to @alice.", "to [@alice=alice]."],
  ["@nobody and @alice", "@nobody and [@alice=alice]"],
  ["alice@alice", "alice@alice"],
  ["@@alice @alice@bob_2", "@@alice @alice@bob_2"],
  ["@alice_ @alices @alice.org @aliceé", "@alice_ @alices @alice.org @aliceé"],
  ["https://example.org/(@alice www.x(@alice", "https://example.org/(@alice www.x(@alice"],
  ["é@alice /@alice #@alice", "é@alice /@alice #@alice"],
  ["<b>@alice</b>", "<b>[@alice=alice]</b>"],
])("%s", (text, want) => {
  expect(split(text)).toBe(want);
  expect(splitMentions(text, users).map((piece) => piece.text).join("")).toBe(text);
});

test.each([
  ["@al|", 0, "al"],
  ["hi @al|", 3, "al"],
  ["hi @|", undefined, undefined],
  ["hi @al |", undefined, undefined],
  ["hi @al|ice", undefined, undefined],
  ["hi @al| there", 3, "al"],
  ["me@al|", undefined, undefined],
  ["http://x/(@al|", undefined, undefined],
  ["@abcdefghijklmnopqrstu|", undefined, undefined],
])("what is being written in %s", (text, at, prefix) => {
  const caret = text.indexOf("|");
  const found = mentionBefore(text.replace("|", ""), caret);
  expect(found?.at).toBe(at);
  expect(found?.prefix).toBe(prefix);
});
