import { isPending, useQuoteCount, type TimelinePostFragment } from "@retwis/client";
import { Link } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { HeartIcon, QuoteIcon, ReplyIcon } from "../ui/icons.tsx";
import { LikeButton } from "./LikeButton.tsx";
import { actionClass, actionsClass } from "./PostLayout.tsx";
import { postPath } from "./postPath.ts";
import { QuoteButton } from "./QuoteButton.tsx";

/** The links and buttons below the text of a post. */
export function PostActions({ postId, replyCount, likeCount }: { postId: string; replyCount: number; likeCount: number }) {
  const { t, format } = useI18n();
  const count = format.number(replyCount);
  if (isPending(postId)) {
    return (
      <div className={actionsClass}>
        <span className={actionClass}>
          <ReplyIcon />
        </span>
        <span className={actionClass}>
          <QuoteIcon />
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
        aria-describedby={`${postId}-text`}
        className={actionClass}
      >
        <ReplyIcon />
        {replyCount > 0 && count}
      </Link>
      <QuoteButton postId={postId} />
      <LikeButton postId={postId} likeCount={likeCount} />
    </div>
  );
}

/** The buttons below the post that is the subject of a page, and the numbers of its replies, quotes and likes. */
export function LargePostActions({ id, replyCount, likeCount }: TimelinePostFragment) {
  const { t, format } = useI18n();
  const quoteCount = useQuoteCount(id);
  return (
    <div className={`${actionsClass} flex-wrap items-center`}>
      <QuoteButton postId={id} />
      <LikeButton postId={id} likeCount={likeCount} />
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
