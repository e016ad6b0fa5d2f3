import { useParams as useEncodedParams } from "wouter";

/** Returns the decoded parameters of the route. */
export function useParams(): Record<string, string | undefined> {
  const params = useEncodedParams<Record<string, string | undefined>>();
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decode(value)]));
}

function decode(value: string | undefined): string | undefined {
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    return value; // not encoded properly: it names nothing
  }
}
