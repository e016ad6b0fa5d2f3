import { describe, expect, test } from "vitest";
import { checkPost, countGraphemes } from "./limits.ts";

describe("a character is what a reader sees as one", () => {
  const cases: [text: string, count: number][] = [
    ["", 0],
    ["abc", 3],
    ["  abc \n", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["👨‍👩‍👧‍👦", 1],
    ["🇬🇧🇳🇴", 2],
    ["क्षि", 1],
    ["a\r\nb", 3],
    ["a\n\nb", 4],
  ];
  test.each(cases)("%j", (text, count) => {
    expect(countGraphemes(text)).toBe(count);
  });
});

describe("a post", () => {
  test("may have 280 characters", () => {
    expect(checkPost("a".repeat(280))).toEqual({ left: 0, ok: true });
    expect(checkPost("a".repeat(281))).toEqual({ left: -1, ok: false });
  });
  test("has to say something", () => {
    expect(checkPost(" \n ").ok).toBe(false);
  });
  test("may not take too much space, however few characters it has", () => {
    const check = checkPost(`a${"\u0301\u0302".repeat(3_000)}`);
    expect(check.ok).toBe(false);
    expect(check.problem).toContain("space");
  });
});
