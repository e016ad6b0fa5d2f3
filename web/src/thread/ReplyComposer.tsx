import { useState } from "react";
import { useI18n } from "../i18n/I18n.tsx";
import { Composer, type ComposerProps } from "../posts/Composer.tsx";
import { expectViewer } from "../session/expectation.ts";
import { useViewer } from "../session/useSession.ts";
import { buttonClass } from "../ui/Button.tsx";

export interface ReplyComposerProps {
  postId: string;
  /** The author of the post; undefined while it is not known, and if the post was deleted. */
  author: NonNullable<ComposerProps["inReplyTo"]>["author"] | undefined;
  deleted: boolean;
}

/** The composer of replies to a post. Visitors see a link to log in instead. A reply to a post that is deleted meanwhile stays. */
export function ReplyComposer({ postId, author, deleted }: ReplyComposerProps) {
  const { t } = useI18n();
  const viewer = useViewer();
  const [known, setKnown] = useState(author);
  if (author && author.id !== known?.id) setKnown(author);
  if (viewer === null) {
    return deleted ? null : (
      <p className="border-b border-line px-4 py-4 sm:px-6">
        <a href="/" className={buttonClass("quiet")}>
          {t.thread.logIn}
        </a>
      </p>
    );
  }
  if (viewer && known) return <Composer viewer={viewer} inReplyTo={{ id: postId, author: known }} closed={deleted ? t.thread.closed : undefined} />;
  return deleted || !expectViewer() ? null : <div className="h-46 border-b border-line" />;
}
