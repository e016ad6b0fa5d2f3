import { useEffect, useState } from "react";
import { describeError } from "../api/errors.ts";
import { Button } from "../ui/Button.tsx";

export interface PageState {
  loading: boolean;
  error: unknown;
  /** There is more to load. */
  more: boolean;
  load: () => Promise<void>;
}

/** The end of a list: more to come, a failure, or the end of it all. */
export function MoreBelow({ loading, error, more, load }: PageState) {
  // The list finds out how high it is in its first frames, and would push this around.
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => setSettled(true));
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  if (!settled) return null;
  if (error) {
    return (
      <div role="alert" className="flex items-center justify-center gap-4 px-6 py-6 text-sm">
        <p>{describeError(error)}</p>
        <Button kind="quiet" onClick={() => void load()}>
          Try again
        </Button>
      </div>
    );
  }
  return (
    <p role="status" className="flex h-20 items-center justify-center text-sm text-soft">
      {loading ? "Loading more" : more ? "" : "That is all."}
    </p>
  );
}
