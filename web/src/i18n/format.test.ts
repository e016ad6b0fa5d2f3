import { describe, expect, test } from "vitest";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { Format } from "./format.ts";

const now = Date.parse("2026-06-15T12:00:00Z");
const american = new Format("en", ["en-US"]);
const german = new Format("de", ["de-AT", "en-US"]);

test("a number up to a limit", () => {
  expect([98, 99, 120].map((n) => american.numberUpTo(99, n))).toEqual(["98", "99+", "99+"]);
});

describe("age", () => {
  const cases: [iso: string, english: string, german: string][] = [
    ["2026-06-15T12:00:02Z", "now", "jetzt"],
    ["2026-06-15T11:59:01Z", "now", "jetzt"],
    ["2026-06-15T11:59:00Z", "1m", "1 Min."],
    ["2026-06-15T11:00:01Z", "59m", "59 Min."],
    ["2026-06-15T11:00:00Z", "1h", "1h"],
    ["2026-06-14T12:00:01Z", "23h", "23h"],
    ["2026-06-14T12:00:00Z", "1d", "1 T"],
    ["2026-06-08T12:00:01Z", "6d", "6 T"],
    ["2026-06-08T12:00:00Z", "Jun 8", "8. Juni"],
    ["2025-06-08T12:00:00Z", "Jun 8, 2025", "8. Juni 2025"],
  ];
  test.each(cases)("of %s", (iso, english, inGerman) => {
    expect(american.age(Date.parse(iso), now, en)).toBe(english);
    expect(german.age(Date.parse(iso), now, de)).toBe(inGerman);
  });
});

describe("age within a sentence", () => {
  const cases: [iso: string, english: string, german: string][] = [
    ["2026-06-15T11:59:30Z", "just now", "gerade eben"],
    ["2026-06-15T11:58:00Z", "2 minutes ago", "vor 2 Minuten"],
    ["2026-06-15T10:00:00Z", "2 hours ago", "vor 2 Stunden"],
    ["2026-06-13T12:00:00Z", "2 days ago", "vor 2 Tagen"],
    ["2026-03-08T12:00:00Z", "Mar 8", "8. März"],
  ];
  test.each(cases)("of %s", (iso, english, inGerman) => {
    expect(american.ago(Date.parse(iso), now, en)).toBe(english);
    expect(german.ago(Date.parse(iso), now, de)).toBe(inGerman);
  });
});

test("numbers follow the browser's first locale, words the language of the page", () => {
  const mixed = new Format("en", ["de-DE", "en-GB"]);
  expect(mixed.number(1234.5)).toBe("1.234,5");
  expect(mixed.month(new Date(now))).toBe("June 2026");
  expect(new Format("en", []).number(1234)).toBe("1,234");
});

test.each([
  [0, "1 second"],
  [59, "59 seconds"],
  [61, "2 minutes"],
  [7200, "2 hours"],
])("a wait of %d seconds", (seconds, text) => {
  expect(american.wait(seconds)).toBe(text);
});
