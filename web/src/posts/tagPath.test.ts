import { expect, test } from "vitest";
import { tagPath } from "./tagPath.ts";

test.each([
  ["Frost", "/tag/frost"],
  ["ＦＲＯＳＴ", "/tag/frost"],
  ["#frost", "/tag/frost"],
  ["Café", "/tag/caf%C3%A9"],
  ["cafe\u0301", "/tag/caf%C3%A9"],
])("the path of %s", (name, path) => {
  expect(tagPath(name)).toBe(path);
});
