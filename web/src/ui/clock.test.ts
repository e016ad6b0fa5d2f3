import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Clock } from "./clock.ts";

const now = Date.parse("2026-06-15T12:00:00Z");

beforeEach(() => {
  vi.useFakeTimers({ now });
});
afterEach(() => {
  vi.useRealTimers();
});

test("the clock runs while it has a listener", () => {
  const clock = new Clock();
  let ticks = 0;
  const stop = clock.subscribe(() => ticks++);
  vi.advanceTimersByTime(60_000);
  expect(ticks).toBeGreaterThan(0);
  expect(clock.getNow()).toBe(now + 60_000);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
