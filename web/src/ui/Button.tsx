import type { ComponentProps } from "react";

const kinds = {
  strong: "bg-accent text-accent-ink border-accent hover:brightness-110",
  quiet: "border-line bg-raised text-ink hover:bg-wash",
  danger: "border-warn bg-raised text-warn hover:bg-warn-wash",
};

export interface ButtonProps extends ComponentProps<"button"> {
  kind?: keyof typeof kinds;
  /** What it does is being done. Unlike a disabled button it keeps the focus, for those who go on by keys. */
  busy?: boolean;
}

export function Button({ kind = "strong", busy = false, className = "", onClick, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      {...props}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={`inline-flex min-h-10 items-center justify-center gap-2 rounded-full border px-4 font-medium whitespace-nowrap disabled:cursor-default disabled:opacity-60 aria-disabled:cursor-default aria-disabled:opacity-60 ${kinds[kind]} ${className}`}
    />
  );
}
