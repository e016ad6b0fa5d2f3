import { useLayoutEffect, useMemo, useRef, type RefObject } from "react";
import type { Place, Places } from "./places.ts";
import { whileSettling } from "./settling.ts";

/** The attribute by which the element of an entry is found. Lists other than timelines show posts, which have ids of their own. */
export const entryAttribute = "data-entry-id";

/** The frames within which a virtual list renders the post that had the focus. */
const focusFrames = 180;

/** The reader's place in a timeline that is shown. */
export interface ShownPlace {
  /** Returns the first entry in view, as of the last scroll. */
  current: () => Place | undefined;
  /** The place to begin at, after a return. */
  restored: Place | undefined;
}

/** What the place needs of the list. */
export interface ListHandle {
  /** Scrolls an entry into the page that is not rendered. */
  seek: (entryId: string) => void;
  /** Returns an entry's cursor in the timeline. */
  cursorOf: (entryId: string) => string | undefined;
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
        const { entryId } = now.current;
        places.set(key, { ...now.current, cursor: window.scrollY > 0 ? list.current.cursorOf(entryId) : undefined });
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
      const entry = event.target instanceof Element ? event.target.closest(`[${entryAttribute}]`) : null;
      places.focus(key, entry?.getAttribute(entryAttribute) ?? undefined);
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
      const element = entryElement(place.entryId);
      const off = element ? element.getBoundingClientRect().top - place.top : 0;
      if (!element) list.current.seek(place.entryId);
      else if (Math.abs(off) >= 1) window.scrollBy(0, off);
      return false;
    });
  }, [place, shown, list]);
  useLayoutEffect(() => {
    if (!shown || focused === undefined) return;
    return whileSettling(() => {
      if (!isUnfocused()) return true;
      const entry = entryElement(focused);
      entry?.focus({ preventScroll: true });
      return entry !== null && document.activeElement === entry; // an entry cannot have it before it is visible
    }, focusFrames);
  }, [focused, shown]);
}

/** Returns the element of an entry, if it is rendered. */
export function entryElement(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[${entryAttribute}="${CSS.escape(id)}"]`);
}

/** Reports whether no control has the focus. */
function isUnfocused(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement.tagName === "MAIN";
}

/** The first post of which something is visible below the inset. */
function firstInView(inset: number): Place | undefined {
  for (const element of document.querySelectorAll<HTMLElement>(`[${entryAttribute}]`)) {
    const box = element.getBoundingClientRect();
    const entryId = element.getAttribute(entryAttribute);
    if (box.bottom > inset + 1 && entryId) return { entryId, top: box.top };
  }
  return undefined;
}
