/** What became of a form that was sent. */
export interface Outcome {
  errors: Record<string, string>;
  done?: string;
}

/** Says what became of a form. */
export function Verdict({ outcome }: { outcome: Outcome }) {
  return (
    <p role="status" className={`min-h-6 text-sm ${outcome.errors[""] ? "text-warn" : "text-soft"}`}>
      {outcome.errors[""] ?? outcome.done}
    </p>
  );
}
