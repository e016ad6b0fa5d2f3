import { useLikePost, useLikes } from "@retwis/client";
import { useI18n } from "../i18n/I18n.tsx";
import { useViewer } from "../session/useSession.ts";
import { HeartIcon } from "../ui/icons.tsx";
import { useAttempt } from "../ui/useAttempt.ts";
import { ActionCount, ActionProblem } from "./ActionCount.tsx";
import { actionClass } from "./PostLayout.tsx";

export interface LikeButtonProps {
  postId: string;
  likeCount: number;
  /** The id of the element with the text of the post. */
  textId: string;
}

/** Likes a post, and shows how many users do. Visitors see their number alone. */
export function LikeButton({ postId, likeCount, textId }: LikeButtonProps) {
  const { t, format } = useI18n();
  const viewer = useViewer();
  const likes = useLikes(postId);
  const change = useLikePost();
  const { problem, attempt } = useAttempt();
  if (!viewer || !likes) return <ActionCount icon={<HeartIcon />} count={likeCount} label={t.post.likes} />;
  const { liked } = likes;
  const count = format.number(likeCount);
  return (
    <>
      <button
        type="button"
        aria-pressed={liked}
        aria-label={t.post.like(likeCount, count)}
        aria-describedby={textId}
        onClick={() => void attempt(() => change(postId, !liked))}
        className={`${actionClass} aria-pressed:text-warn`}
      >
        <HeartIcon filled={liked} />
        {likeCount > 0 && count}
      </button>
      <ActionProblem>{problem}</ActionProblem>
    </>
  );
}
