import type { ComponentProps } from "react";

const kinds = {
  strong: "bg-accent text-accent-ink border-accent hover:brightness-110",
  quiet: "border-line bg-raised text-ink hover:bg-wash",
  danger: "border-warn bg-raised text-warn hover:bg-warn-wash",
};

/** The classes of a button, for links that look like one. */
export function buttonClass(kind: keyof typeof kinds = "strong"): string {
  return `inline-flex min-h-10 items-center justify-center gap-2 rounded-full border px-4 font-medium whitespace-nowrap disabled:cursor-default disabled:opacity-60 aria-disabled:cursor-default aria-disabled:opacity-60 ${kinds[kind]}`;
}

export interface ButtonProps extends ComponentProps<"button"> {
  kind?: keyof typeof kinds;
  /** Its action is running. Unlike a disabled button it keeps the focus. */
  busy?: boolean;
}

export function Button({ kind = "strong", busy = false, className = "", onClick, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      {...props}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={`${buttonClass(kind)} ${className}`}
    />
  );
}
