import { navigate as browserNavigate, useLocationProperty, usePathname } from "wouter/use-browser-location";

interface VisitState {
  key?: string;
  compose?: boolean;
  choices?: Record<string, string | undefined>;
}

/** An entry of the browser's history, as it is visited now. */
export interface Visit {
  pathname: string;
  hash: string;
  /** Identifies the entry. It survives a reload. */
  key: string;
  /** The entry was reached by Back, Forward or a reload. */
  returning: boolean;
  /** The reader came to write a post. */
  compose: boolean;
}

/** The key of the entry that was reached by the last navigation; undefined after Back, Forward or a reload. */
let navigated: string | undefined;

if (typeof window !== "undefined") {
  window.addEventListener("popstate", () => {
    navigated = undefined;
  });
}

/** Goes to an address within the app. Every navigation is a new visit, also one to the same address. */
export function navigate(to: string, { replace = false, state }: { replace?: boolean; state?: VisitState | null } = {}): void {
  navigated = Math.random().toString(36).slice(2);
  browserNavigate(to, { replace, state: { ...state, key: navigated } });
}

/** The location for the router: the path, and a function to change it. */
export const useAppLocation = (): [string, typeof navigate] => [usePathname(), navigate];

/** Returns the current visit. */
export function useVisit(): Visit {
  return {
    pathname: usePathname(),
    hash: useLocationProperty(() => location.hash),
    key: useLocationProperty(() => visitState().key ?? "first"),
    returning: useLocationProperty(() => visitState().key !== navigated || navigated === undefined),
    compose: useLocationProperty(() => visitState().compose ?? false),
  };
}

/** Returns what the reader chose on this visit, and a function to choose something else. A return finds it again. */
export function useChoice(name: string): [string | undefined, (value: string | undefined) => void] {
  const value = useLocationProperty(() => visitState().choices?.[name]);
  return [
    value,
    (next) => {
      const { choices, ...state } = visitState();
      history.replaceState({ ...state, choices: { ...choices, [name]: next } }, "");
    },
  ];
}

function visitState(): VisitState {
  return (history.state as VisitState | null) ?? {};
}
