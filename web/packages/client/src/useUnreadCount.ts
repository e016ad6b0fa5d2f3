import { useFragment } from "@apollo/client/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useRetwis } from "./retwis.ts";

/** How long a page is left alone before the timeline is read, in milliseconds. */
const delay = 2_000;

/**
 * Counts the posts of a timeline, up to one page, that are newer than those marked as read.
 * It reads the timeline in the background and stays live. The mark is kept in localStorage;
 * on the first visit everything counts as read.
 */
export function useUnreadCount(timelineId: string): { count: number; markRead: () => void } {
  const { timelines, documents } = useRetwis();
  const live = useMemo(() => timelines.get(timelineId), [timelines, timelineId]);
  const { data, complete } = useFragment({
    fragment: documents.window,
    fragmentName: "TimelineWindow",
    from: { __typename: "Timeline", id: timelineId },
  });
  const known = useTimes(timelineId, complete);
  const [read, setRead] = useState(() => stored(timelineId));

  useEffect(() => {
    let stop = () => {};
    const timer = setTimeout(() => {
      const begin = live.window.read() === undefined ? live.window.readHead() : Promise.resolve();
      let left = false;
      let unfollow = () => {};
      stop = () => {
        left = true;
        unfollow();
      };
      begin.then(
        () => {
          if (!left && live.window.read()) unfollow = live.follow({ cursorInView: () => undefined });
        },
        () => {}, // the server is unreachable: the number is of no importance
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [live]);

  const newest = known[0];
  const markRead = useCallback(() => {
    if (newest === undefined) return;
    setRead(newest);
    store(timelineId, newest);
  }, [timelineId, newest]);
  const ready = complete && data.posts.pageInfo.hasPreviousPage === false;
  useEffect(() => {
    if (!ready || read !== undefined) return;
    const mark = newest ?? new Date(0).toISOString();
    setRead(mark);
    store(timelineId, mark);
  }, [ready, read, newest, timelineId]);
  const count = read === undefined ? 0 : known.filter((time) => time > read).length;
  return { count, markRead };
}

/** The times of the posts in the window, newest first. */
function useTimes(timelineId: string, complete: boolean): string[] {
  const { timelines } = useRetwis();
  const window = complete ? timelines.get(timelineId).window.read() : undefined;
  return window?.edges.map((edge) => edge.node).map((node) => (node as unknown as { createdAt: string }).createdAt) ?? [];
}

function name(timelineId: string): string {
  return `retwis-read:${timelineId}`;
}

function stored(timelineId: string): string | undefined {
  try {
    return localStorage.getItem(name(timelineId)) ?? undefined;
  } catch {
    return undefined; // storage is forbidden
  }
}

function store(timelineId: string, time: string): void {
  try {
    localStorage.setItem(name(timelineId), time);
  } catch {
    // Storage is full or forbidden: the mark lasts as long as the page.
  }
}
