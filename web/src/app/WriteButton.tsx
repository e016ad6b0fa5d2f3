import { useSyncExternalStore } from "react";
import { Link, useLocation } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { PenIcon } from "../ui/icons.tsx";

/** From this scroll position on, the composer of the home page is out of view, in pixels. */
const composerHeight = 200;

/** On phones, a floating link to the composer where the composer is out of view. In the settings it would cover their forms. */
export function WriteButton() {
  const { t } = useI18n();
  const [path] = useLocation();
  const scrolled = useSyncExternalStore(watchScroll, () => window.scrollY > composerHeight);
  if ((path === "/" && !scrolled) || path === "/settings") return null;
  return (
    <Link
      to="/"
      state={{ compose: true }}
      aria-label={t.nav.write}
      className="fixed right-4 bottom-20 z-20 flex size-14 items-center justify-center rounded-full bg-accent text-accent-ink shadow-lg shadow-black/25 sm:hidden"
    >
      <PenIcon />
    </Link>
  );
}

function watchScroll(listener: () => void): () => void {
  window.addEventListener("scroll", listener, { passive: true });
  return () => window.removeEventListener("scroll", listener);
}
