import { useMutation, useQuery } from "@apollo/client/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { MarkTimelineReadDocument, TimelineUnreadDocument } from "./generated.ts";
import { useRetwis } from "./retwis.ts";

/** How long a page is left alone before the timeline is read, in milliseconds. */
const delay = 2_000;
/** How often the number is read at most while events arrive, in milliseconds. */
const pause = 1_000;

/**
 * Returns the number of unread posts of a timeline of the viewer, up to 99, and a function that marks
 * the timeline as read up to the newest post received. The server keeps the marker, so the number is
 * the same on all devices. It follows the events of the timeline.
 */
export function useUnreadCount(timelineId: string): { count: number; markRead: () => void } {
  const { timelines } = useRetwis();
  const live = useMemo(() => timelines.get(timelineId), [timelines, timelineId]);
  const due = useDelay(delay);
  const { data, refetch } = useQuery(TimelineUnreadDocument, { variables: { id: timelineId }, skip: !due });
  const [mark] = useMutation(MarkTimelineReadDocument);

  useEffect(() => {
    if (!due) return;
    let left = false;
    let unfollow = () => {};
    const begin = live.window.read() === undefined ? live.window.readHead() : Promise.resolve();
    begin.then(
      () => {
        if (!left && live.window.read()) unfollow = live.follow({ cursorInView: () => undefined });
      },
      () => {}, // the server is unreachable: the number is of no importance
    );
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ignore = live.onEvents(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        refetch().catch(() => {}); // the next event tries again
      }, pause);
    });
    return () => {
      left = true;
      clearTimeout(timer);
      ignore();
      unfollow();
    };
  }, [due, live, refetch]);

  const markRead = useCallback(() => {
    const cursor = live.newest;
    if (cursor === undefined) return;
    mark({ variables: { input: { timelineId, cursor } } }).catch(() => {}); // the next visit marks it
  }, [live, mark, timelineId]);
  const count = data?.node?.__typename === "Timeline" ? (data.node.unreadCount ?? 0) : 0;
  return { count, markRead };
}

/** Reports whether a time has passed since the component was mounted. */
function useDelay(milliseconds: number): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), milliseconds);
    return () => clearTimeout(timer);
  }, [milliseconds]);
  return passed;
}
