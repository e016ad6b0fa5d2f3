import { useVisit } from "../router/visit.ts";

/**
 * How lists that are not live are read: the cached list is shown while it is read again. A return by
 * Back finds the list as long as it was.
 */
export function useReadAgain() {
  const fetchPolicy = useVisit().returning ? "cache-first" : "cache-and-network";
  return { fetchPolicy, nextFetchPolicy: "cache-first" } as const;
}
