import { useEffect } from "react";
import { UnreadCountsDocument } from "./generated.ts";
import type { TimelineEvent } from "./liveTimeline.ts";
import { useRetwis } from "./retwis.ts";
import { knownMarker } from "./unread.ts";

/** How long the numbers that may have changed wait for others, in milliseconds. */
const pause = 1_000;

/**
 * Keeps the markers and the numbers of unread posts of some timelines of the viewer current in the cache,
 * for `useUnread`. It follows the events of these timelines and reads their posts not at all.
 */
export function useUnreadUpdates(timelineIds: readonly string[]): void {
  const { client, timelines } = useRetwis();
  const ids = timelineIds.join(" ");
  useEffect(() => {
    if (ids === "") return;
    const all = ids.split(" ");
    const stale = new Set(all.filter((id) => knownMarker(client.cache, id) === undefined));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = () => {
      if (stale.size > 0) timer ??= setTimeout(() => void read(), pause);
    };
    const read = async () => {
      // A number that is older than the subscription would miss the posts in between.
      const asked = [...stale].filter((id) => timelines.get(id).getView().current);
      for (const id of asked) stale.delete(id);
      try {
        if (asked.length > 0) await client.query({ query: UnreadCountsDocument, variables: { timelineIds: asked }, fetchPolicy: "network-only" });
      } catch {
        for (const id of asked) stale.add(id); // the next event tries again
      }
      timer = undefined;
    };
    const stops = all.map((id) => {
      const live = timelines.get(id);
      const ignore = live.onEvents((events) => {
        if (events.some((event) => mayChange(event, knownMarker(client.cache, id)))) stale.add(id);
        schedule();
      });
      const unfollow = live.follow({ cursorInView: () => undefined });
      return () => {
        ignore();
        unfollow();
      };
    });
    schedule();
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [client, timelines, ids]);
}

/** Reports whether an event may change the marker or the number of unread posts, and the cache does not know how. */
function mayChange(event: TimelineEvent, marker: string | null | undefined): boolean {
  switch (event.__typename) {
    case "PostAdded":
    case "PostRemoved":
    case "TimelineReset":
      return true;
    case "TimelineMarkerMoved":
      return event.marker !== marker;
    case "TimelineCaughtUp":
      return event.replayed > 0 || event.marker !== marker;
    default:
      return false;
  }
}
