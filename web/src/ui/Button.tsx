import type { ComponentProps } from "react";

const kinds = {
  strong: "bg-accent text-accent-ink border-accent hover:brightness-110",
  quiet: "border-line bg-raised text-ink hover:bg-wash",
  danger: "border-warn bg-raised text-warn hover:bg-warn-wash",
};

export function Button({ kind = "strong", className = "", ...props }: ComponentProps<"button"> & { kind?: keyof typeof kinds }) {
  return (
    <button
      type="button"
      {...props}
      className={`inline-flex min-h-10 items-center justify-center gap-2 rounded-full border px-4 font-medium whitespace-nowrap disabled:cursor-default disabled:opacity-60 ${kinds[kind]} ${className}`}
    />
  );
}
