import { isPending } from "@retwis/client";
import { Link } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { HeartIcon, ReplyIcon } from "../ui/icons.tsx";
import { LikeButton } from "./LikeButton.tsx";
import { actionClass, actionsClass } from "./PostLayout.tsx";
import { postPath } from "./postPath.ts";

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
      <LikeButton postId={postId} likeCount={likeCount} />
    </div>
  );
}
