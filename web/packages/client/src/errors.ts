import { CombinedGraphQLErrors, ServerError } from "@apollo/client";

/** Reports whether an error has a code of the API, as in `extensions.code`. */
export function hasCode(error: unknown, code: string): boolean {
  return CombinedGraphQLErrors.is(error) && error.errors.some((e) => e.extensions?.["code"] === code);
}

/** Reports whether a request failed before the API answered it: the network, or a proxy in front, is to blame. */
export function isUnreachable(error: unknown): boolean {
  if (CombinedGraphQLErrors.is(error)) return false;
  return !ServerError.is(error) || error.statusCode >= 502;
}
