import { expect, test } from "vitest";
import { couldMatch } from "./searchWords.ts";

const person = { username: "zoe_m", displayName: "Zoë O’Brien" };

test.each([
  ["", true],
  ["zo", true],
  ["ZOË", true],
  ["brien zoe", true],
  ["m", true],
  ["zoe_m", true],
  ["rien", false],
  ["zoe x", false],
])("%s", (query, want) => {
  expect(couldMatch(person, query)).toBe(want);
});
