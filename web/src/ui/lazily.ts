import { lazy, type ComponentType, type LazyExoticComponent } from "react";

// All in milliseconds.
const firstPause = 500;
const longestPause = 8_000;
const reloadInterval = 60_000;

const reloadMark = "retwis-reloaded";

/**
 * Returns a component that is loaded when it is rendered. While the network is down it keeps
 * trying. If the server has another version of the app, the page is reloaded.
 */
export function lazily<Props>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await loadPersistently(load) }));
}

/** Loads a module, however often it takes. */
export async function loadPersistently<T>(load: () => Promise<T>): Promise<T> {
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    try {
      return await load();
    } catch (error) {
      if (await isReachable()) {
        // The server answers, but it does not have the file.
        if (!mayReload()) throw error;
        location.reload();
        return new Promise(() => {});
      }
      await untilOnline(pause);
    }
  }
}

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch("/icon.svg", { method: "HEAD", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** Reports whether the page was not reloaded just now, and notes that it will be. */
function mayReload(): boolean {
  try {
    const last = Number(sessionStorage.getItem(reloadMark));
    sessionStorage.setItem(reloadMark, String(Date.now()));
    return Date.now() - last > reloadInterval;
  } catch {
    return false; // without storage a reload could repeat for ever
  }
}

function untilOnline(timeout: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, timeout);
    window.addEventListener("online", done);
  });
}
