import type { TimelinePostFragment } from "@retwis/client";
import { Link } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { contextClass } from "./PostLayout.tsx";
import { postPath } from "./postPath.ts";

const linkClass = "hover:underline";

/** Says what a reply answers: another user, the author's own thread, or a post of a deleted account. */
export function ReplyContext({ id, post }: { id: string; post: Pick<TimelinePostFragment, "author" | "inReplyToId" | "inReplyToUser"> }) {
  const { t } = useI18n();
  const { author, inReplyToId, inReplyToUser } = post;
  if (inReplyToId === null) return null;
  const toThread = (text: string) => (
    <Link to={postPath(inReplyToId)} className={linkClass}>
      {text}
    </Link>
  );
  return (
    <p id={id} className={contextClass}>
      {inReplyToUser === null
        ? toThread(t.post.replyingToDeleted)
        : inReplyToUser.id === author.id
          ? toThread(t.post.continued)
          : t.post.replyingTo(
              <Link key="user" to={`/u/${inReplyToUser.username}`} className={linkClass}>
                @{inReplyToUser.username}
              </Link>,
            )}
    </p>
  );
}
