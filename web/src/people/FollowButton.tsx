import type { FragmentType } from "@apollo/client";
import { useFragment, useMutation } from "@apollo/client/react";
import { useState } from "react";
import { describeError, describeUserError } from "../api/errors.ts";
import type { FollowButton_UserFragment } from "../api/generated.ts";
import { FollowButton_UserFragmentDoc, FollowUserDocument, UnfollowUserDocument } from "./FollowButton.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { expectViewer } from "../session/expectation.ts";
import { useViewer } from "../session/useSession.ts";
import { Button, buttonClass } from "../ui/Button.tsx";

export interface FollowButtonProps {
  user: FragmentType<FollowButton_UserFragment>;
  /** Visitors who are not logged in see a link to the registration. */
  invite?: boolean;
  /** A small button below a name. */
  compact?: boolean;
}

/** Follows and unfollows a user. Absent on the viewer's own profile. */
export function FollowButton({ user, invite = false, compact = false }: FollowButtonProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const viewer = useViewer();
  const { data, complete } = useFragment({ fragment: FollowButton_UserFragmentDoc, fragmentName: "FollowButton_user", from: user });
  const [problem, setProblem] = useState<string>();
  const [follow, following] = useMutation(FollowUserDocument);
  const [unfollow, unfollowing] = useMutation(UnfollowUserDocument);
  if (viewer === undefined && expectViewer()) return <div className="h-10 w-28 shrink-0" />;
  if (viewer === null && invite) {
    return (
      <a href="/#register" className={`shrink-0 ${buttonClass()}`}>
        {t.welcome.registerToFollow}
      </a>
    );
  }
  if (!viewer || !complete || data.id === viewer.user.id) return null;
  const toggle = async () => {
    setProblem(undefined);
    try {
      const variables = { userId: data.id };
      const errors = data.viewerFollows
        ? (await unfollow({ variables })).data?.unfollowUser?.userErrors
        : (await follow({ variables })).data?.followUser?.userErrors;
      if (errors?.[0]) setProblem(describeUserError(errors[0], i18n));
    } catch (error) {
      setProblem(describeError(error, i18n));
    }
  };
  return (
    <div className={compact ? "mt-1.5" : "shrink-0 text-right"}>
      <Button
        className={compact ? "min-h-8! px-3.5! text-sm" : "min-w-28"}
        kind={data.viewerFollows ? "quiet" : "strong"}
        data-follow={data.viewerFollows}
        aria-label={data.viewerFollows ? t.follow.following(data.displayName) : t.follow.follow(data.displayName)}
        aria-description={data.viewerFollows ? t.follow.unfollowHint : undefined}
        busy={following.loading || unfollowing.loading}
        onClick={() => void toggle()}
      >
        {data.viewerFollows ? t.follow.shortFollowing : t.follow.shortFollow}
      </Button>
      {problem && (
        <p role="alert" className="mt-1 max-w-48 text-sm text-warn">
          {problem}
        </p>
      )}
    </div>
  );
}
