// The build puts this script into the document of the app. It runs while the app is loading.
import { showPosts, type TimelineAnswer, type ViewerAnswer } from "./posts.ts";
import type { EarlyRequests } from "./requests.ts";

/** The build replaces it by the requests. */
declare const EARLY_REQUESTS: EarlyRequests;

const ofPage = EARLY_REQUESTS[location.pathname];
const responses = new Map<string, Promise<Response>>();
for (const { headers, body } of ofPage ?? EARLY_REQUESTS["*"] ?? []) {
  const response = fetch("/graphql", { method: "POST", headers, body });
  response.catch(() => {}); // the app sends the request again
  responses.set(body, response);
}
window.earlyRequests = responses;

// A return begins at the place that was left, which only the app knows.
const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
if (ofPage && navigation?.type === "navigate") void showAnswers([...responses.values()]).catch(() => {});

/** Shows the posts of the last answer for the viewer of the first one, once all have arrived and the document is there. */
async function showAnswers(responses: readonly Promise<Response>[]): Promise<void> {
  // The app reads the responses, too.
  const copies = (await Promise.all(responses)).map((response) => response.clone());
  const answers: unknown[] = await Promise.all(copies.map((copy) => copy.json()));
  if (document.readyState === "loading") {
    await new Promise((resolve) => document.addEventListener("readystatechange", resolve, { once: true }));
  }
  const [first, last] = [answers[0] as ViewerAnswer | undefined, answers.at(-1) as TimelineAnswer | undefined];
  if (last) showPosts(last, first?.data?.viewer?.user);
}
