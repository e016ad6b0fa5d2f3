import { isPending, useQuoteCount, type TimelinePostFragment } from "@retwis/client";
import { Link } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { HeartIcon, ReplyIcon, RepostIcon } from "../ui/icons.tsx";
import { LikeButton } from "./LikeButton.tsx";
import { actionClass, actionsClass } from "./PostLayout.tsx";
import { postPath } from "./postPath.ts";
import { RepostButton, type RepostButtonProps } from "./RepostButton.tsx";

export interface PostActionsProps extends RepostButtonProps {
  replyCount: number;
  likeCount: number;
}

/** The links and buttons below the text of a post. */
export function PostActions({ replyCount, likeCount, ...reposting }: PostActionsProps) {
  const { t, format } = useI18n();
  const { postId, textId } = reposting;
  const count = format.number(replyCount);
  if (isPending(postId)) {
    return (
      <div className={actionsClass}>
        <span className={actionClass}>
          <ReplyIcon />
        </span>
        <span className={actionClass}>
          <RepostIcon />
        </span>
        <span className={actionClass}>
          <HeartIcon />
        </span>
      </div>
    );
  }
  return (
    <div className={actionsClass}>
      <Link
        to={postPath(postId)}
        state={{ compose: true }}
        data-reply
        aria-label={t.post.reply(replyCount, count)}
        aria-describedby={textId}
        className={actionClass}
      >
        <ReplyIcon />
        {replyCount > 0 && count}
      </Link>
      <RepostButton {...reposting} />
      <LikeButton postId={postId} likeCount={likeCount} textId={textId} />
    </div>
  );
}

/** The buttons below the post that is the subject of a page, and the numbers of its replies, quotes and likes. */
export function LargePostActions({ id, replyCount, likeCount, textId }: TimelinePostFragment & { textId: string }) {
  const { t, format } = useI18n();
  const quoteCount = useQuoteCount(id);
  return (
    <div className={`${actionsClass} flex-wrap items-center`}>
      <RepostButton postId={id} textId={textId} />
      <LikeButton postId={id} likeCount={likeCount} textId={textId} />
      {replyCount > 0 && <p>{t.post.replies(replyCount, format.number(replyCount))}</p>}
      {quoteCount > 0 && (
        <Link to={`${postPath(id)}/quotes`} className="hover:underline">
          {t.quotes.count(quoteCount, format.number(quoteCount))}
        </Link>
      )}
      {likeCount > 0 && (
        <Link to={`${postPath(id)}/likes`} className="hover:underline">
          {t.post.likes(likeCount, format.number(likeCount))}
        </Link>
      )}
    </div>
  );
}
