import type { FragmentType } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import { entryAttribute, isPending, TimelinePostFragmentDoc, type TimelineEdge, type TimelinePostFragment } from "@retwis/client";
import { useSyncExternalStore, type KeyboardEvent, type MouseEvent } from "react";
import { Link } from "wouter";
import { useServices } from "../app/services.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Avatar } from "../people/Avatar.tsx";
import { navigate } from "../router/visit.ts";
import { useViewer } from "../session/useSession.ts";
import { useAge } from "../ui/clock.ts";
import { TrashIcon } from "../ui/icons.tsx";
import { askToDelete, type Deletion } from "./deletion.ts";
import { focusedEntry } from "./focus.ts";
import { besideAvatar, PostLayout } from "./PostLayout.tsx";
import { LargePostActions, PostActions } from "./PostActions.tsx";
import { postPath } from "./postPath.ts";
import { Quote } from "./QuoteCard.tsx";
import { ReplyContext } from "./ReplyContext.tsx";
import { RepostReason } from "./RepostReason.tsx";
import { RichText } from "./RichText.tsx";

export interface PostCardProps {
  post: FragmentType<TimelinePostFragment> & { id: string };
  /** The entry of the timeline that shows the post. Other lists show each post once. */
  entry?: Pick<TimelineEdge, "entryId" | "reason">;
  /** The position in a feed, counted from 1. */
  position?: number;
  /** The post is the subject of the page. */
  large?: boolean;
  /** The post answered is next to it. */
  inThread?: boolean;
  /** Called before the post, or the viewer's repost of it, disappears. */
  onRemoved?: () => void;
}

/** One post. */
export function PostCard({ post, entry, position, large = false, inThread = large, onRemoved }: PostCardProps) {
  const { data, complete } = useFragment({ fragment: TimelinePostFragmentDoc, fragmentName: "TimelinePost", from: post });
  const viewer = useViewer();
  if (!complete) return <div className="h-px" />; // just deleted; lists want no empty rows
  const { id, text, author, entities } = data;
  const { entryId, reason } = entry ?? { entryId: id, reason: null };
  const [reasonId, authorId, contextId, textId] = [`${entryId}-reason`, `${entryId}-author`, `${entryId}-context`, `${entryId}-text`];
  const pending = isPending(id);
  const href = postPath(id);
  const hasContext = !inThread && data.inReplyToId !== null;
  const open = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.target === event.currentTarget && !pending && !large) navigate(href);
  };
  const openByText = (event: MouseEvent) => {
    const onLink = event.target instanceof Element && event.target.closest("a");
    const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (pending || onLink || modified || event.detail > 1 || hasSelection()) return;
    navigate(href);
  };
  // An event may have removed the repost already, and the focus with it.
  const onUndone = () => {
    const hasFocus = focusedEntry() === entryId || document.activeElement === document.body;
    if (hasFocus && reason?.user.id === viewer?.user.id) onRemoved?.();
  };
  const quote = data.quotedPostId !== null && <Quote postId={id} quotedPostId={data.quotedPostId} />;
  const textProps = { id: textId, text, entities };
  return (
    <PostLayout
      data-post-id={id}
      {...{ [entryAttribute]: entryId }}
      aria-labelledby={authorId}
      aria-describedby={[reason && reasonId, hasContext && contextId, textId].filter(Boolean).join(" ")}
      aria-busy={pending || undefined}
      {...(position !== undefined && { "aria-posinset": position, "aria-setsize": -1 })}
      tabIndex={large ? undefined : 0}
      onKeyDown={open}
      faint={pending}
      reason={reason && <RepostReason id={reasonId} repost={reason} />}
      avatar={<Avatar {...author} />}
      author={(className) => (
        <Link id={authorId} to={`/u/${author.username}`} className={className}>
          <bdi>{author.displayName}</bdi>
        </Link>
      )}
      username={`@${author.username}`}
      aside={
        <>
          {!pending && viewer?.user.id === author.id && <DeleteButton postId={id} authorId={author.id} onDeleted={onRemoved} textId={textId} />}
          {pending ? <PendingState /> : <PostTime iso={data.createdAt} href={href} />}
        </>
      }
      context={hasContext && <ReplyContext id={contextId} post={data} />}
      text={!large && <RichText {...textProps} className={`${besideAvatar} cursor-pointer`} onClick={openByText} />}
      quote={!large && quote}
      actions={
        !large && (
          <PostActions
            postId={id}
            textId={textId}
            replyCount={data.replyCount}
            likeCount={data.likeCount}
            onUndone={onUndone}
          />
        )
      }
    >
      {large && <RichText {...textProps} className="mt-4 text-xl" />}
      {large && quote}
      {large && <LargePostActions {...data} textId={textId} />}
    </PostLayout>
  );
}

function DeleteButton({ textId, ...deletion }: Deletion & { textId: string }) {
  const { t } = useI18n();
  return (
    <button
      type="button"
      aria-label={t.delete}
      aria-describedby={textId}
      onClick={() => askToDelete(deletion)}
      className="-my-1 self-center rounded-md p-1 hover:text-warn"
    >
      <TrashIcon />
    </button>
  );
}

/** Says what a post waits for that has not been sent. */
function PendingState() {
  const { t } = useI18n();
  const { connection } = useServices();
  const state = useSyncExternalStore(connection.subscribe, connection.getState);
  return <>{state === "lost" ? t.post.waiting : t.post.sending}</>;
}

/** Whether text on the page is being selected, as after dragging over it. */
function hasSelection(): boolean {
  return document.getSelection()?.isCollapsed === false;
}

function PostTime({ iso, href }: { iso: string; href: string }) {
  const { format } = useI18n();
  const age = useAge(iso);
  const exact = format.exact(new Date(iso));
  return (
    <Link to={href} data-permalink className="hover:underline">
      <time dateTime={iso} title={exact}>
        {age}
      </time>
      <span className="sr-only">, {exact}</span>
    </Link>
  );
}
