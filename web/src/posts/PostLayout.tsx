import type { ComponentProps, ReactNode } from "react";
import { RepostIcon } from "../ui/icons.tsx";

export interface PostLayoutProps extends Omit<ComponentProps<"article">, "className"> {
  /** Why the timeline shows the post: a `ReasonLine`. */
  reason?: ReactNode;
  avatar: ReactNode;
  /** The author's display name, as a link with the given classes. */
  author: (className: string) => ReactNode;
  /** The author's username, with the sign. */
  username: ReactNode;
  /** What stands at the end of the first line. */
  aside?: ReactNode;
  /** What the post answers. */
  context?: ReactNode;
  /** The text beside the avatar. */
  text?: ReactNode;
  /** The post that this one quotes. */
  quote?: ReactNode;
  /** The links and buttons below the text. */
  actions?: ReactNode;
  faint?: boolean;
}

/** The layout of a post, which the app shares with its document. */
export function PostLayout({ reason, avatar, author, username, aside, context, text, quote, actions, faint = false, children, ...article }: PostLayoutProps) {
  return (
    <article {...article} className={`scroll-mt-16 border-b border-line px-4 py-4 outline-offset-[-2px] sm:scroll-mt-2 sm:px-6 ${faint ? "opacity-70" : ""}`}>
      {reason}
      <div className="flex gap-3">
        {avatar}
        <div className="min-w-0 flex-1">
          <p className="flex items-baseline gap-2 leading-tight">
            <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
              {author("max-w-full truncate font-semibold hover:underline")}
              <span className="truncate text-sm text-soft">{username}</span>
            </span>
            <span className="flex shrink-0 items-baseline gap-1 text-sm text-soft">{aside}</span>
          </p>
          {context}
          {text}
          {quote}
          {actions}
        </div>
      </div>
      {children}
    </article>
  );
}

/** The line above a post that says whose repost shows it. */
export function ReasonLine({ children, ...line }: Omit<ComponentProps<"p">, "className">) {
  return (
    <p {...line} className="mb-1 flex items-center gap-3 text-sm font-medium text-soft">
      <span className="flex w-10 shrink-0 justify-end">
        <RepostIcon size={16} />
      </span>
      <span className="flex min-w-0 whitespace-pre">{children}</span>
    </p>
  );
}

/** The class of the link in it. A long name is cut, not the words behind it. */
export const reasonLinkClass = "truncate hover:underline";
/** The class of a text beside the avatar. */
export const besideAvatar = "mt-1";
/** The class of the line that says what a post answers. */
export const contextClass = "mt-0.5 truncate text-sm text-soft";
/** The class of the row of links and buttons below a text. */
export const actionsClass = "mt-1 -mb-2 flex gap-4 text-sm text-soft";
/** The class of a link or button in it. */
export const actionClass = "-ml-2 inline-flex h-8 min-w-8 items-center gap-1.5 rounded-full px-2 tabular-nums hover:bg-wash hover:text-accent";
