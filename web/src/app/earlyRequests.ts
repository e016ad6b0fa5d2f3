import type {} from "../early/requests.ts";

/**
 * Sends a request, unless the page has sent the same one while the app was loading. An early
 * response is used once; if it failed, the request is sent again.
 */
export async function fetchEarly(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const body = typeof init?.body === "string" ? init.body : "";
  const early = window.earlyRequests?.get(body);
  if (early === undefined) return fetch(input, init);
  window.earlyRequests?.delete(body);
  try {
    return await early;
  } catch {
    return fetch(input, init);
  }
}
