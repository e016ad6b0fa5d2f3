import type { ReactNode } from "react";
import { describeError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "./Button.tsx";
import { Title } from "./Title.tsx";

/** The heading and the title of a page. */
export function PageTitle({ children, title }: { children: ReactNode; title?: string }) {
  const { t } = useI18n();
  return (
    <>
      <Title>{t.title(title ?? (typeof children === "string" ? children : ""))}</Title>
      <h1 className="px-4 pt-5 pb-3 font-serif text-2xl font-semibold tracking-tight sm:px-6">{children}</h1>
    </>
  );
}

/** An empty list, and what can be done about it. */
export function Empty({ children }: { children: ReactNode }) {
  return <div className="space-y-4 px-6 py-16 text-center text-soft">{children}</div>;
}

/** A failed read, and a button to try again. */
export function Problem({ error, retry }: { error: unknown; retry: () => void }) {
  const i18n = useI18n();
  return (
    <div role="alert" className="space-y-4 px-6 py-12 text-center">
      <p>{describeError(error, i18n)}</p>
      <Button kind="quiet" onClick={retry}>
        {i18n.t.tryAgain}
      </Button>
    </div>
  );
}

/** Placeholders as high as the rows that are being loaded. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  const { t } = useI18n();
  return (
    <div role="status">
      <span className="sr-only">{t.loading}</span>
      <SkeletonRows rows={rows} />
    </div>
  );
}

/** The placeholders alone, for those who see them. */
export function SkeletonRows({ rows }: { rows: number }) {
  return (
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
  );
}
