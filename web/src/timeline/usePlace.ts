import { useLayoutEffect, useMemo, useRef, type RefObject } from "react";
import { useServices } from "../app/services.ts";
import { whileSettling } from "../ui/settling.ts";
import type { Place } from "./places.ts";

export interface PlaceInFeed {
  /** The first post in view, as of the last time something moved. */
  current: () => Place | undefined;
  /** Where to begin: the place that was left, for somebody who comes back. */
  restored: Place | undefined;
}

/** What is asked of a feed. */
export interface FeedHandle {
  /** Brings a post that is not on the page into it. */
  seek: (postId: string) => void;
  /** Where a post is in the timeline. */
  cursorOf: (postId: string) => string | undefined;
}

/** Knows where the reader of a feed is, and remembers it for when they come back. */
export function usePlace(key: string, returning: boolean, feed: RefObject<FeedHandle>): PlaceInFeed {
  const { places } = useServices();
  const now = useRef<Place | undefined>(undefined);
  const restored = useMemo(() => (returning ? places.get(key) : undefined), [places, key, returning]);

  // Not a passive effect: those end after the next page is there, and would look at it.
  useLayoutEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      now.current = firstInView();
      if (now.current) places.set(key, { ...now.current, cursor: window.scrollY > 0 ? feed.current.cursorOf(now.current.postId) : undefined });
    };
    const soon = () => {
      frame ||= requestAnimationFrame(look);
    };
    soon();
    window.addEventListener("scroll", soon, { passive: true });
    window.addEventListener("resize", soon);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("scroll", soon);
      window.removeEventListener("resize", soon);
    };
  }, [places, key, feed]);

  return useMemo(() => ({ current: () => now.current, restored }), [restored]);
}

/**
 * Takes who comes back to a place there, once the list is shown. It begins at about the right
 * one. As it learns how high its posts are, they move: this holds on to the one that was
 * looked at, until the list rests or the reader takes over.
 */
export function useReturn(place: Place | undefined, shown: boolean, feed: RefObject<FeedHandle>): void {
  useLayoutEffect(() => {
    if (!place || !shown) return;
    return whileSettling(() => {
      const element = document.querySelector(`[data-post-id="${CSS.escape(place.postId)}"]`);
      const off = element ? element.getBoundingClientRect().top - place.top : 0;
      if (!element) feed.current.seek(place.postId);
      else if (Math.abs(off) >= 1) window.scrollBy(0, off);
      return false;
    });
  }, [place, shown, feed]);
}

/** The first post of which something can be seen. */
function firstInView(): Place | undefined {
  const top = matchMedia("(width < 40rem)").matches ? 56 : 0; // the bar at the top of phones
  for (const element of document.querySelectorAll<HTMLElement>("[data-post-id]")) {
    const box = element.getBoundingClientRect();
    const postId = element.dataset["postId"];
    if (box.bottom > top + 1 && postId) return { postId, top: box.top };
  }
  return undefined;
}
