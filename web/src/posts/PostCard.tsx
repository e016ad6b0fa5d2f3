import { useFragment } from "@apollo/client/react";
import type { FragmentType } from "@apollo/client";
import { useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import { Link, useNavigate } from "react-router";
import { PostCard_PostFragmentDoc, type PostCard_PostFragment } from "../api/generated.ts";
import { Avatar } from "../people/Avatar.tsx";
import { useViewer } from "../session/useSession.ts";
import { TrashIcon } from "../ui/icons.tsx";
import { useRelativeTime } from "../ui/time.ts";
import { splitMentions } from "./mentions.ts";
import { DeleteQuestion } from "./DeleteQuestion.tsx";
import { isPending } from "./pending.ts";

export interface PostCardProps {
  post: FragmentType<PostCard_PostFragment> & { id: string };
  /** Its place in a feed, counted from 1. */
  position?: number;
  /** It is what the page is about. */
  large?: boolean;
  onDeleted?: () => void;
}

/** One post. */
export function PostCard({ post, position, large = false, onDeleted }: PostCardProps) {
  const { data, complete } = useFragment({ fragment: PostCard_PostFragmentDoc, fragmentName: "PostCard_post", from: post });
  const navigate = useNavigate();
  const viewer = useViewer();
  const [asking, setAsking] = useState(false);
  const trash = useRef<HTMLButtonElement>(null);
  if (!complete) return <div className="h-px" />; // deleted this very moment; lists want no empty rows
  const { id, text, author, mentions } = data;
  const pending = isPending(id);
  const href = `/post/${encodeURIComponent(id)}`;
  const keep = () => {
    setAsking(false);
    trash.current?.focus();
  };
  const open = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.target === event.currentTarget && !pending && !large) void navigate(href);
  };
  const openByText = (event: MouseEvent) => {
    const onLink = event.target instanceof Element && event.target.closest("a");
    const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (pending || onLink || modified || event.detail > 1 || hasSelection()) return;
    void navigate(href);
  };
  return (
    <article
      data-post-id={id}
      aria-labelledby={`${id}-author`}
      aria-describedby={`${id}-text`}
      aria-busy={pending || undefined}
      {...(position !== undefined && { "aria-posinset": position, "aria-setsize": -1 })}
      tabIndex={large ? undefined : 0}
      onKeyDown={open}
      className={`scroll-mt-16 border-b border-line px-4 py-4 outline-offset-[-2px] sm:scroll-mt-2 sm:px-6 ${pending ? "opacity-70" : ""}`}
    >
      <div className="flex gap-3">
        <Avatar {...author} />
        <div className="min-w-0 flex-1">
          <p className="flex items-baseline gap-2 leading-tight">
            <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
              <Link id={`${id}-author`} to={`/u/${author.username}`} className="max-w-full truncate font-semibold hover:underline">
                <bdi>{author.displayName}</bdi>
              </Link>
              <span className="truncate text-sm text-soft">@{author.username}</span>
            </span>
            <span className="flex shrink-0 items-baseline gap-1 text-sm text-soft">
              {!pending && viewer?.user.id === author.id && (
                <button
                  ref={trash}
                  type="button"
                  aria-label="Delete"
                  aria-expanded={asking}
                  aria-describedby={`${id}-text`}
                  onClick={() => setAsking(!asking)}
                  className="-my-1 self-center rounded-md p-1 hover:text-warn"
                >
                  <TrashIcon />
                </button>
              )}
              {pending ? "Sending" : <PostTime iso={data.createdAt} href={href} />}
            </span>
          </p>
          {!large && <PostText id={id} text={text} mentions={mentions} onClick={openByText} />}
        </div>
      </div>
      {large && <PostText id={id} text={text} mentions={mentions} large />}
      {asking && <DeleteQuestion postId={id} authorId={author.id} onKeep={keep} onDeleted={onDeleted} />}
    </article>
  );
}

interface PostTextProps {
  id: string;
  text: string;
  mentions: readonly { username: string }[];
  large?: boolean;
  /** For the mouse; keys have the post itself. */
  onClick?: (event: MouseEvent) => void;
}

function PostText({ id, text, mentions, large = false, onClick }: PostTextProps) {
  return (
    <p
      id={`${id}-text`}
      dir="auto"
      onClick={onClick}
      className={`post-text ${large ? "mt-4 text-xl" : "mt-1"} ${onClick ? "cursor-pointer" : ""}`}
    >
      {splitMentions(text, mentions).map((piece, i) =>
        piece.username === undefined ? (
          piece.text
        ) : (
          <Link key={i} to={`/u/${piece.username}`} className="text-accent underline decoration-1 underline-offset-2 hover:decoration-2">
            {piece.text}
          </Link>
        ),
      )}
    </p>
  );
}

/** Whether text on the page is being selected, as after dragging over it. */
function hasSelection(): boolean {
  return document.getSelection()?.isCollapsed === false;
}

function PostTime({ iso, href }: { iso: string; href: string }) {
  const relative = useRelativeTime(iso);
  const exact = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" }).format(new Date(iso));
  return (
    <Link to={href} className="hover:underline" aria-label={`Posted ${exact}`}>
      <time dateTime={iso} title={exact}>
        {relative}
      </time>
    </Link>
  );
}
