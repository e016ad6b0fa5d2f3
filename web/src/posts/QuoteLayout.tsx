import type { ComponentProps, ReactNode } from "react";

export interface QuoteLayoutProps extends Omit<ComponentProps<"blockquote">, "className"> {
  /** The author's display name. */
  author?: ReactNode;
  /** The author's username, with the sign. */
  username?: ReactNode;
  age?: ReactNode;
  text?: ReactNode;
}

/** The layout of a quoted post, which the app shares with its document. Children stand in place of a post. */
export function QuoteLayout({ author, username, age, text, children, ...quote }: QuoteLayoutProps) {
  return (
    <blockquote
      {...quote}
      className="relative mt-2 rounded-xl border border-line px-3 py-2 focus-within:border-accent has-[a:hover]:bg-wash"
    >
      {children === undefined ? (
        <>
          <div className="flex items-baseline gap-2 text-sm leading-tight">
            <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
              {author}
              <span className="truncate text-soft">{username}</span>
            </span>
            <span className="shrink-0 text-soft">{age}</span>
          </div>
          <p dir="auto" className="post-text mt-1">
            {text}
          </p>
        </>
      ) : (
        <p className="text-sm text-soft">{children}</p>
      )}
    </blockquote>
  );
}

/** The class of the link of a quoted post, which covers the card. */
export const quoteLinkClass = "max-w-full truncate font-semibold outline-none after:absolute after:inset-0 after:rounded-xl focus-visible:after:outline-2 focus-visible:after:outline-accent";
