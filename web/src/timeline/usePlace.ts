import { useLayoutEffect, useMemo, useRef, type RefObject } from "react";
import { useServices } from "../app/services.ts";
import type { Place } from "./places.ts";

const settleFrames = 30;

export interface PlaceInFeed {
  /** The first post in view, as of the last time something moved. */
  current: () => Place | undefined;
  /** Where to begin: the place that was left, for somebody who comes back. */
  restored: Place | undefined;
}

/**
 * Knows where the reader of a feed is, remembers it, and takes who comes back there. `seek`
 * brings a post that is not on the page into it.
 */
export function usePlace(key: string, returning: boolean, seek: RefObject<(postId: string) => void>): PlaceInFeed {
  const { places } = useServices();
  const now = useRef<Place | undefined>(undefined);
  const restored = useMemo(() => (returning ? places.get(key) : undefined), [places, key, returning]);

  // Not a passive effect: those end after the next page is there, and would look at it.
  useLayoutEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      now.current = firstInView();
      places.set(key, now.current);
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
  }, [places, key]);

  // The list begins at about the right place. As it learns how high its posts are, they
  // move: hold on to the one that was looked at, until it rests or the reader takes over.
  useLayoutEffect(() => {
    if (!restored) return;
    let frames = settleFrames;
    let frame = 0;
    const hold = () => {
      const element = document.querySelector(`[data-post-id="${CSS.escape(restored.postId)}"]`);
      const off = element ? element.getBoundingClientRect().top - restored.top : 0;
      if (!element) seek.current(restored.postId);
      else if (Math.abs(off) >= 1) window.scrollBy(0, off);
      if (--frames > 0) frame = requestAnimationFrame(hold);
    };
    const release = () => cancelAnimationFrame(frame);
    frame = requestAnimationFrame(hold);
    for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"]) window.addEventListener(kind, release, { passive: true });
    return () => {
      release();
      for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"]) window.removeEventListener(kind, release);
    };
  }, [restored, seek]);

  return useMemo(() => ({ current: () => now.current, restored }), [restored]);
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
