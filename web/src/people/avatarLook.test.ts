import { expect, test } from "vitest";
import { colourOf, initialOf } from "./avatarLook.ts";

test("similar usernames have different colours", () => {
  const names = Array.from({ length: 60 }, (_, i) => `user_${i}`);
  expect(new Set(names.map(colourOf)).size).toBeGreaterThan(54);
  expect(colourOf("ada")).toBe(colourOf("ada"));
});

test("the letter is the first character as a reader sees it", () => {
  expect(["ada", "éva", "👩‍🔬 Lab", ""].map(initialOf)).toEqual(["A", "É", "👩‍🔬", ""]);
});
