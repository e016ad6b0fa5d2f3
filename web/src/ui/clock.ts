import { useSyncExternalStore } from "react";
import { useI18n } from "../i18n/I18n.tsx";

const interval = 15_000; // ms

/** One clock for all times on the screen. It runs while a component uses it. */
export class Clock {
  private now = Date.now();
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setInterval> | undefined;

  readonly getNow = (): number => this.now;

  readonly subscribe = (listener: () => void): (() => void) => {
    if (this.listeners.size === 0) {
      this.tick();
      this.timer = setInterval(this.tick, interval);
      document.addEventListener("visibilitychange", this.tick); // timers pause in hidden tabs
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

/** Returns how long ago a time is, in few characters. It changes as time passes. */
export function useAge(iso: string): string {
  const { t, format } = useI18n();
  return useSyncExternalStore(clock.subscribe, () => format.age(Date.parse(iso), clock.getNow(), t));
}

/** Returns how long ago a time is, within a sentence. It changes as time passes. */
export function useAgo(iso: string): string {
  const { t, format } = useI18n();
  return useSyncExternalStore(clock.subscribe, () => format.ago(Date.parse(iso), clock.getNow(), t));
}
