import { useEffect, useRef, useState } from "react";
import { isPending } from "./pending.ts";
import { entryElement } from "./place.ts";
import { useRetwis } from "./retwis.ts";
import { markRead, useUnread, type KnownUnread } from "./unread.ts";
import type { Timeline } from "./useTimeline.ts";

// Both in milliseconds.
const glance = 500; // how long the head is on the screen before it counts as read
const longestPause = 60_000; // after failures

export interface Reading {
  /** The number of unread posts, up to 99, where 99 is that or more; undefined for a timeline without a marker. */
  unreadCount: number | undefined;
  /** The id of the oldest entry that was unread when the visit began: the line above what was read belongs below it. */
  oldestUnread: string | undefined;
}

/**
 * Marks a timeline of the viewer as read while its newest post is on the screen, and returns what is unread.
 * The cache has to know the marker: select it with the page, or call `useUnreadUpdates`.
 */
export function useReading(timeline: Timeline, visit = ""): Reading {
  const unread = useUnread(timeline.id);
  useMarkAsRead(timeline, unread?.unreadCount);
  return { unreadCount: unread?.unreadCount, oldestUnread: useOldestUnread(timeline, visit, unread) };
}

/** Marks the timeline as read when its head has been on the screen of a visible page for a moment. */
function useMarkAsRead({ id, edges, newer, newPosts, live }: Timeline, unreadCount: number | undefined): void {
  const { client } = useRetwis();
  // The newest entry that is known to be read; null if a mark has failed.
  const read = useRef<string | null>(undefined);
  const [failures, setFailures] = useState(0);
  const atHead = live && unreadCount !== undefined && !newer.more && newPosts.count === 0 && !newPosts.more;
  const head = atHead && edges[0] && !isPending(edges[0].node.id) ? edges[0] : undefined;
  const entryId = head?.entryId;
  const cursor = head?.cursor;
  const nothingUnread = unreadCount === 0;
  useEffect(() => {
    if (nothingUnread && read.current === undefined) read.current = entryId;
    if (id === undefined || !entryId || !cursor || read.current === entryId) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const mark = () => {
      read.current = entryId;
      markRead(client, id, cursor).then(
        () => setFailures(0),
        () => {
          read.current = null;
          setFailures((count) => count + 1);
        },
      );
    };
    const look = () => {
      if (document.visibilityState === "visible" && isOnScreen(entryId)) {
        timer ??= setTimeout(mark, Math.min(glance * 2 ** failures, longestPause));
      } else {
        clearTimeout(timer);
        timer = undefined;
      }
    };
    // The list has to render the post before it can be on the screen.
    const frame = requestAnimationFrame(() => requestAnimationFrame(look));
    for (const kind of ["scroll", "resize"]) window.addEventListener(kind, look, { passive: true });
    document.addEventListener("visibilitychange", look);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      for (const kind of ["scroll", "resize"]) window.removeEventListener(kind, look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [client, id, entryId, cursor, nothingUnread, failures]);
}

/** Reports whether the beginning of an entry is on the screen. */
function isOnScreen(entryId: string): boolean {
  const top = entryElement(entryId)?.getBoundingClientRect().top;
  return top !== undefined && top >= 0 && top < window.innerHeight;
}

interface Opened {
  visit: string;
  /** The marker when the visit began; null if nothing was unread above it. */
  marker: string | null;
  oldestUnread: string | undefined;
}

/** Returns the id of the oldest entry that was unread when the visit began. */
function useOldestUnread({ id, status }: Timeline, visit: string, unread: KnownUnread | undefined): string | undefined {
  const { timelines } = useRetwis();
  const [opened, setOpened] = useState<Opened>();
  if (id !== undefined && status === "ready" && unread && opened?.visit !== visit) {
    const { marker, unreadCount } = unread;
    const posts = timelines.get(id).window.read();
    const within = posts && !posts.pageInfo.hasPreviousPage && unreadCount < posts.edges.length;
    setOpened({
      visit,
      marker: unreadCount === 0 ? null : marker,
      oldestUnread: marker !== null && within ? posts.edges[unreadCount - 1]?.entryId : undefined,
    });
  }
  const { marker, oldestUnread } = opened ?? {};
  useEffect(() => {
    if (id === undefined || !marker || oldestUnread !== undefined) return;
    let left = false;
    // It is further down than the posts that were read so far.
    timelines.get(id).window.oldestUnread(marker).then(
      (found) => {
        if (!left && found !== undefined) setOpened({ visit, marker, oldestUnread: found });
      },
      () => {}, // without the line the timeline can be read, too
    );
    return () => {
      left = true;
    };
  }, [timelines, id, visit, marker, oldestUnread]);
  return oldestUnread;
}
