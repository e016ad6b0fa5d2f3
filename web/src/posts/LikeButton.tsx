import { useLikePost, useLikes } from "@retwis/client";
import { useState } from "react";
import { describeError, describeUserError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { useViewer } from "../session/useSession.ts";
import { HeartIcon } from "../ui/icons.tsx";
import { actionClass } from "./PostLayout.tsx";

/** Likes a post, and shows how many users do. Visitors see their number alone. */
export function LikeButton({ postId, likeCount }: { postId: string; likeCount: number }) {
  const i18n = useI18n();
  const { t, format } = i18n;
  const viewer = useViewer();
  const likes = useLikes(postId);
  const change = useLikePost();
  const [state, setState] = useState<{ busy: boolean; problem?: string }>({ busy: false });
  const count = format.number(likeCount);
  if (!viewer || !likes) {
    return (
      <span className={actionClass}>
        <HeartIcon />
        {likeCount > 0 && (
          <>
            <span aria-hidden="true">{count}</span>
            <span className="sr-only">{t.post.likes(likeCount, count)}</span>
          </>
        )}
      </span>
    );
  }
  const { liked } = likes;
  const toggle = async () => {
    if (state.busy) return;
    setState({ busy: true });
    try {
      const [failure] = await change(postId, !liked);
      setState({ busy: false, ...(failure && { problem: describeUserError(failure, i18n) }) });
    } catch (error) {
      setState({ busy: false, problem: describeError(error, i18n) });
    }
  };
  return (
    <>
      <button
        type="button"
        aria-pressed={liked}
        aria-label={t.post.like(likeCount, count)}
        aria-describedby={`${postId}-text`}
        onClick={() => void toggle()}
        className={`${actionClass} aria-pressed:text-warn`}
      >
        <HeartIcon filled={liked} />
        {likeCount > 0 && count}
      </button>
      {state.problem && (
        <span role="alert" className="self-center text-warn">
          {state.problem}
        </span>
      )}
    </>
  );
}
