import { useId, type ComponentProps, type ReactNode } from "react";

interface Own {
  label: string;
  name: string;
  error?: string | undefined;
  hint?: ReactNode;
}

const box =
  "w-full rounded-lg border border-line bg-raised px-3 py-2 text-ink placeholder:text-soft aria-invalid:border-warn";

/** An input with its label, a hint, and an error in place of the hint. */
export function Field({ label, error, hint, ...input }: Own & ComponentProps<"input">) {
  return (
    <Labelled label={label} error={error} hint={hint}>
      {(aria) => <input {...input} {...aria} className={box} />}
    </Labelled>
  );
}

/** A Field with several lines. */
export function TextField({ label, error, hint, ...input }: Own & ComponentProps<"textarea">) {
  return (
    <Labelled label={label} error={error} hint={hint}>
      {(aria) => <textarea {...input} {...aria} className={box} />}
    </Labelled>
  );
}

interface Aria {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string;
}

function Labelled({ label, error, hint, children }: Omit<Own, "name"> & { children: (aria: Aria) => ReactNode }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {children({ id, "aria-invalid": error ? true : undefined, "aria-describedby": `${id}-hint` })}
      <p id={`${id}-hint`} className={`mt-1 min-h-5 text-sm ${error ? "text-warn" : "text-soft"}`}>
        {error ?? hint}
      </p>
    </div>
  );
}
