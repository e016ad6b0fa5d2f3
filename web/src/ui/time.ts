import { useSyncExternalStore } from "react";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago, in as few letters as will do; the date when it is more than a week. */
export function relativeTime(then: number, now: number): string {
  const age = now - then;
  if (age < minute) return "now"; // also where the clocks differ a little
  if (age < hour) return `${Math.floor(age / minute)} min`;
  if (age < day) return `${Math.floor(age / hour)} h`;
  if (age < 7 * day) return `${Math.floor(age / day)} d`;
  const sameYear = new Date(then).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat("en", sameYear ? shortDate : longDate).format(then);
}

/** The relative time within a sentence. */
export function ago(relative: string): string {
  if (relative === "now") return "just now";
  return / (min|h|d)$/.test(relative) ? `${relative} ago` : relative;
}

const shortDate: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
const longDate: Intl.DateTimeFormatOptions = { ...shortDate, year: "numeric" };

/** One clock for all times on the screen. It ticks while one of them is there. */
export class Clock {
  private now = Date.now();
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setInterval> | undefined;

  readonly getNow = (): number => this.now;

  readonly subscribe = (listener: () => void): (() => void) => {
    if (this.listeners.size === 0) {
      this.tick();
      this.timer = setInterval(this.tick, minute / 4);
      document.addEventListener("visibilitychange", this.tick); // timers sleep in hidden tabs
    }
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      clearInterval(this.timer);
      document.removeEventListener("visibilitychange", this.tick);
    };
  };

  private readonly tick = (): void => {
    this.now = Date.now();
    for (const listener of this.listeners) listener();
  };
}

const clock = new Clock();

/** The relative time, that stays true. */
export function useRelativeTime(iso: string): string {
  return useSyncExternalStore(clock.subscribe, () => relativeTime(Date.parse(iso), clock.getNow()));
}
