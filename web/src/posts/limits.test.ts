import { describe, expect, test } from "vitest";
import { countGraphemes } from "../api/text.ts";
import { checkPost } from "./limits.ts";

describe("counts the characters that a reader sees", () => {
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
    expect(checkPost("a".repeat(280))).toEqual({ left: 0, ok: true, tooManyBytes: false });
    expect(checkPost("a".repeat(281))).toEqual({ left: -1, ok: false, tooManyBytes: false });
  });
  test("has to have visible text", () => {
    expect(checkPost(" \n ").ok).toBe(false);
  });
  test("may not have too many bytes, however few characters it has", () => {
    const check = checkPost(`a${"\u0301\u0302".repeat(3_000)}`);
    expect(check.ok).toBe(false);
    expect(check.tooManyBytes).toBe(true);
  });
});
