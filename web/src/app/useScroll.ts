import { useEffect, useLayoutEffect, useRef } from "react";
import { useVisit } from "../router/visit.ts";
import { whileSettling } from "@retwis/client";

const remembered = 100;

/**
 * Scrolls a new page to its top, and a page reached by Back to where it was left. Timelines
 * restore their place themselves, because their height is not known in advance.
 */
export function useScroll(): void {
  const { key, hash, returning } = useVisit();
  const heights = useRef(new Map<string, number>());
  const current = useRef(key);

  useEffect(() => {
    const note = () => {
      const map = heights.current;
      map.set(current.current, window.scrollY);
      if (map.size > remembered) map.delete(map.keys().next().value ?? "");
    };
    window.addEventListener("scroll", note, { passive: true });
    return () => window.removeEventListener("scroll", note);
  }, []);

  useLayoutEffect(() => {
    current.current = key;
    if (hash) return;
    const height = returning ? (heights.current.get(key) ?? 0) : 0;
    window.scrollTo(0, height);
    return whileSettling(() => {
      if (window.scrollY >= height || document.querySelector("[role=feed]")) return true;
      window.scrollTo(0, height);
      return false;
    });
  }, [key, hash, returning]);
}
