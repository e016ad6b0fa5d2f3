import type { Paging } from "@retwis/client";
import { useEffect, useState } from "react";
import { describeError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "../ui/Button.tsx";

/** The foot of a list: more is being loaded, loading failed, or the end was reached. */
export function MoreBelow({ loading, error, more, load }: Paging) {
  const i18n = useI18n();
  const { t } = i18n;
  const { settled, fits } = useListHeight();
  if (!settled) return null;
  if (error) {
    return (
      <div role="alert" className="flex items-center justify-center gap-4 px-6 py-6 text-sm">
        <p>{describeError(error, i18n)}</p>
        <Button kind="quiet" onClick={() => void load()}>
          {t.tryAgain}
        </Button>
      </div>
    );
  }
  if (fits && !more && !loading) return <div data-end-reached className="h-20" />;
  return (
    <p role="status" data-end-reached={(!loading && !more) || undefined} className="flex h-20 items-center justify-center text-sm text-soft">
      {loading ? t.loadingMore : more ? "" : t.endReached}
    </p>
  );
}

/**
 * Whether the list has measured its rows, which takes two frames and would move the foot,
 * and whether it fits on the screen.
 */
function useListHeight(): { settled: boolean; fits: boolean } {
  const [state, setState] = useState({ settled: false, fits: true });
  useEffect(() => {
    const measure = () => {
      const fits = document.documentElement.scrollHeight <= window.innerHeight + 1;
      setState((before) => (before.settled && before.fits === fits ? before : { settled: true, fits }));
    };
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(measure);
    });
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
    };
  }, []);
  return state;
}
