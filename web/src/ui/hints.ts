import { useSyncExternalStore } from "react";

/** An account of the demo that visitors can log in to. */
export interface DemoAccount {
  username: string;
  displayName: string;
  password: string;
}

const none: readonly DemoAccount[] = [];
let known: readonly DemoAccount[] | undefined;

/** Reports whether the server has a playground, as the page says. False until the page is hydrated. */
export function useHasPlayground(): boolean {
  return useSyncExternalStore(subscribeNever, () => document.querySelector("meta[name=playground]") !== null, () => false);
}

/** Returns the accounts of the demo, as the page says. Empty until the page is hydrated. */
export function useDemoAccounts(): readonly DemoAccount[] {
  return useSyncExternalStore(subscribeNever, readDemoAccounts, () => none);
}

function readDemoAccounts(): readonly DemoAccount[] {
  known ??= JSON.parse(document.querySelector("meta[name=demo]")?.getAttribute("content") ?? "[]") as DemoAccount[];
  return known;
}

const subscribeNever = () => () => {};
