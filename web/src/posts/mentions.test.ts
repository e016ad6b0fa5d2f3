import { expect, test } from "vitest";
import { mentionBefore } from "./mentions.ts";

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
