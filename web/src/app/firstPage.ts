import { isReturn, ViewerTimelinesDocument } from "@retwis/client";
import { earlyPosts } from "../early/elements.ts";
import { HomePageDocument } from "../pages/Home.documents.ts";
import { PublicPageDocument } from "../pages/Public.documents.ts";
import { preloadFeed } from "../timeline/Feed.tsx";
import type { Services } from "./services.ts";

/**
 * Loads what the first render needs besides the app. If the document shows early posts, their answers are read into
 * the cache, so that the first render shows these posts again and no placeholders in between. A return waits for the
 * list, which restores the reader's place.
 */
export async function prepareFirstPage({ client }: Services): Promise<void> {
  const list = preloadFeed();
  if (document.querySelector(`[${earlyPosts}]`)) {
    const page = location.pathname === "/" ? HomePageDocument : PublicPageDocument;
    await Promise.allSettled([client.query({ query: ViewerTimelinesDocument }), client.query({ query: page })]);
  } else if (isReturn()) {
    await list;
  }
}
