import { ResponseError } from "./errors.ts";

/** How long a request may take, in milliseconds. */
const deadline = 15_000;

/**
 * Sends one operation without a cache or Apollo Client, for pages that need neither. It
 * throws a ResponseError for GraphQL errors and a TypeError if the server is unreachable.
 */
export async function request<Data, Variables extends object>(operationName: string, query: string, variables: Variables): Promise<Data> {
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ operationName, query, variables }),
    signal: AbortSignal.timeout(deadline),
  });
  const { data, errors } = (await response.json()) as { data?: Data; errors?: { message: string }[] };
  if (errors !== undefined || data === undefined) throw new ResponseError(errors ?? []);
  return data;
}
