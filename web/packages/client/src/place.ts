import { useLayoutEffect, useMemo, useRef, type RefObject } from "react";
import type { Place, Places } from "./places.ts";
import { whileSettling } from "./settling.ts";

/** The attribute by which the post of an element is found. */
export const postAttribute = "data-post-id";

/** The frames within which a virtual list renders the post that had the focus. */
const focusFrames = 180;

/** The reader's place in a timeline that is shown. */
export interface ShownPlace {
  /** Returns the first post in view, as of the last scroll. */
  current: () => Place | undefined;
  /** The place to begin at, after a return. */
  restored: Place | undefined;
}

/** What the place needs of the list. */
export interface ListHandle {
  /** Scrolls a post into the page that is not rendered. */
  seek: (postId: string) => void;
  /** Returns a post's cursor in the timeline. */
  cursorOf: (postId: string) => string | undefined;
  /** Returns how many pixels of the top of the screen are covered. */
  topInset: () => number;
}

/** Tracks the reader's place and stores it under a key. */
export function usePlace(places: Places, key: string, returning: boolean, list: RefObject<ListHandle>): ShownPlace {
  const now = useRef<Place | undefined>(undefined);
  const restored = useMemo(() => (returning ? places.get(key) : undefined), [places, key, returning]);

  // A passive effect would end after the next page is rendered, and would measure that page.
  useLayoutEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      now.current = firstInView(list.current.topInset());
      if (now.current) {
        const { postId } = now.current;
        places.set(key, { ...now.current, cursor: window.scrollY > 0 ? list.current.cursorOf(postId) : undefined });
      }
    };
    const schedule = () => {
      frame ||= requestAnimationFrame(measure);
    };
    schedule();
    window.addEventListener("scroll", schedule, { passive: true });
    window.addEventListener("resize", schedule);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("scroll", schedule);
      window.removeEventListener("resize", schedule);
    };
  }, [places, key, list]);

  // The focus is lost when the list is unmounted, so it is noted as it moves.
  useLayoutEffect(() => {
    const note = (event: FocusEvent) => {
      const post = event.target instanceof Element ? event.target.closest(`[${postAttribute}]`) : null;
      places.focus(key, post?.getAttribute(postAttribute) ?? undefined);
    };
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, [places, key]);

  return useMemo(() => ({ current: () => now.current, restored }), [restored]);
}

/**
 * Scrolls to a restored place once the list is shown, and restores the focus. A virtual list
 * begins near the place and moves while it measures its rows: the post of the place is held
 * until the list has settled or the reader takes over.
 */
export function useReturn(place: Place | undefined, focused: string | undefined, shown: boolean, list: RefObject<ListHandle>): void {
  useLayoutEffect(() => {
    if (!shown || !place) return;
    return whileSettling(() => {
      const element = postElement(place.postId);
      const off = element ? element.getBoundingClientRect().top - place.top : 0;
      if (!element) list.current.seek(place.postId);
      else if (Math.abs(off) >= 1) window.scrollBy(0, off);
      return false;
    });
  }, [place, shown, list]);
  useLayoutEffect(() => {
    if (!shown || focused === undefined) return;
    return whileSettling(() => {
      if (!isUnfocused()) return true;
      const post = postElement(focused);
      post?.focus({ preventScroll: true });
      return post !== null && document.activeElement === post; // a post cannot have it before it is visible
    }, focusFrames);
  }, [focused, shown]);
}

/** Returns the element of a post, if it is rendered. */
export function postElement(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[${postAttribute}="${CSS.escape(id)}"]`);
}

/** Reports whether no control has the focus. */
function isUnfocused(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement.tagName === "MAIN";
}

/** The first post of which something is visible below the inset. */
function firstInView(inset: number): Place | undefined {
  for (const element of document.querySelectorAll<HTMLElement>(`[${postAttribute}]`)) {
    const box = element.getBoundingClientRect();
    const postId = element.getAttribute(postAttribute);
    if (box.bottom > inset + 1 && postId) return { postId, top: box.top };
  }
  return undefined;
}
