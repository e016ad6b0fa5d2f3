import type { ReactNode } from "react";
import { describeError } from "../api/errors.ts";
import { Button } from "./Button.tsx";

/** The head of a page. */
export function PageTitle({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <>
      <title>{`${title ?? (typeof children === "string" ? children : "")} — Retwis`}</title>
      <h1 className="px-4 pt-5 pb-3 font-serif text-2xl font-semibold tracking-tight sm:px-6">{children}</h1>
    </>
  );
}

/** A list that has nothing in it, and what can be done about it. */
export function Empty({ children }: { children: ReactNode }) {
  return <div className="space-y-4 px-6 py-16 text-center text-soft">{children}</div>;
}

/** Something that could not be read, and another try. */
export function Problem({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div role="alert" className="space-y-4 px-6 py-12 text-center">
      <p>{describeError(error)}</p>
      <Button kind="quiet" onClick={retry}>
        Try again
      </Button>
    </div>
  );
}

/** Rows of the height of what is on its way. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status">
      <span className="sr-only">Loading</span>
      <div aria-hidden="true">
        {Array.from({ length: rows }, (_, i) => (
          <div key={i} className="flex gap-3 border-b border-line px-4 py-4 sm:px-6">
            <div className="size-10 rounded-xl bg-line" />
            <div className="flex-1 space-y-2.5 py-1">
              <div className="h-3 w-1/3 rounded bg-line" />
              <div className="h-3 w-11/12 rounded bg-line" />
              <div className="h-3 w-2/3 rounded bg-line" />
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}
