import { useEffect } from "react";
import { UnreadCountsDocument } from "./generated.ts";
import type { TimelineEvent } from "./liveTimeline.ts";
import { useRetwis } from "./retwis.ts";
import { knownMarker } from "./unread.ts";

// Both in milliseconds.
const pause = 1_000; // how long the numbers that may have changed wait for others
const pauseAfterFailure = 30_000;

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
    // A number that is older than the subscription would miss the posts in between.
    const due = () => [...stale].filter((id) => timelines.get(id).getView().current);
    let left = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = (after: number) => {
      if (!left && due().length > 0) timer ??= setTimeout(() => void read(), after);
    };
    const read = async () => {
      const asked = due();
      for (const id of asked) stale.delete(id);
      const answer = client.query({ query: UnreadCountsDocument, variables: { timelineIds: asked }, fetchPolicy: "network-only" });
      const failed = await answer.then(
        () => false,
        () => true,
      );
      if (failed) for (const id of asked) stale.add(id);
      timer = undefined;
      schedule(failed ? pauseAfterFailure : pause);
    };
    const stops = all.map((id) => {
      const live = timelines.get(id);
      const ignore = live.onEvents((events) => {
        if (events.some((event) => mayChange(event, knownMarker(client.cache, id)))) stale.add(id);
        schedule(pause);
      });
      const unfollow = live.follow({ cursorInView: () => undefined });
      return () => {
        ignore();
        unfollow();
      };
    });
    schedule(pause);
    return () => {
      left = true;
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
