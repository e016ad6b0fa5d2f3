import { useEffect, useLayoutEffect, useRef } from "react";
import { useLocation, useNavigationType } from "react-router";
import { whileSettling } from "../ui/settling.ts";

const remembered = 100;

/**
 * Shows a new page from its top, and one that was gone back to where it was left. Feeds
 * find their place by themselves: how high they are is not known beforehand.
 */
export function useScroll(): void {
  const { key, hash } = useLocation();
  const type = useNavigationType();
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
    const height = type === "POP" ? (heights.current.get(key) ?? 0) : 0;
    window.scrollTo(0, height);
    return whileSettling(() => {
      if (window.scrollY >= height || document.querySelector("[role=feed]")) return true;
      window.scrollTo(0, height);
      return false;
    });
  }, [key, hash, type]);
}
