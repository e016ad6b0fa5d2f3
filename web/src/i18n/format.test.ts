import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ago, Clock, relativeTime } from "./time.ts";

const now = Date.parse("2026-06-15T12:00:00Z");

test.each([
  ["now", "just now"],
  ["1 min", "1 min ago"],
  ["23 h", "23 h ago"],
  ["6 d", "6 d ago"],
  ["Mar 8", "Mar 8"],
])("%s within a sentence", (relative, text) => {
  expect(ago(relative)).toBe(text);
});

describe("how long ago", () => {
  const cases: [iso: string, text: string][] = [
    ["2026-06-15T12:00:02Z", "now"],
    ["2026-06-15T11:59:01Z", "now"],
    ["2026-06-15T11:59:00Z", "1 min"],
    ["2026-06-15T11:00:01Z", "59 min"],
    ["2026-06-15T11:00:00Z", "1 h"],
    ["2026-06-14T12:00:01Z", "23 h"],
    ["2026-06-14T12:00:00Z", "1 d"],
    ["2026-06-08T12:00:01Z", "6 d"],
    ["2026-06-08T12:00:00Z", "Jun 8"],
    ["2025-06-08T12:00:00Z", "Jun 8, 2025"],
  ];
  test.each(cases)("%s", (iso, text) => {
    expect(relativeTime(Date.parse(iso), now)).toBe(text);
  });
});

describe("the clock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("ticks while somebody looks", () => {
    const clock = new Clock();
    let ticks = 0;
    const stop = clock.subscribe(() => ticks++);
    vi.advanceTimersByTime(60_000);
    expect(ticks).toBeGreaterThan(0);
    expect(clock.getNow()).toBe(now + 60_000);
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
