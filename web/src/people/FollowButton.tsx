import type { FragmentType } from "@apollo/client";
import { useFragment, useMutation } from "@apollo/client/react";
import { useState } from "react";
import { describeError, sentence } from "../api/errors.ts";
import {
  FollowButton_UserFragmentDoc,
  FollowUserDocument,
  UnfollowUserDocument,
  type FollowButton_UserFragment,
} from "../api/generated.ts";
import { expectViewer } from "../session/expectation.ts";
import { useViewer } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";

/** Follows and unfollows; absent for who is not logged in, and on one's own profile. */
export function FollowButton({ user }: { user: FragmentType<FollowButton_UserFragment> }) {
  const viewer = useViewer();
  const { data, complete } = useFragment({ fragment: FollowButton_UserFragmentDoc, fragmentName: "FollowButton_user", from: user });
  const [problem, setProblem] = useState<string>();
  const [follow, following] = useMutation(FollowUserDocument);
  const [unfollow, unfollowing] = useMutation(UnfollowUserDocument);
  if (viewer === undefined && expectViewer()) return <div className="h-10 w-28 shrink-0" />;
  if (!viewer || !complete || data.id === viewer.user.id) return null;
  const toggle = async () => {
    setProblem(undefined);
    try {
      const variables = { userId: data.id };
      const errors = data.viewerFollows
        ? (await unfollow({ variables })).data?.unfollowUser?.userErrors
        : (await follow({ variables })).data?.followUser?.userErrors;
      if (errors?.[0]) setProblem(sentence(errors[0].message));
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  return (
    <div className="shrink-0 text-right">
      <Button
        className="min-w-28"
        kind={data.viewerFollows ? "quiet" : "strong"}
        aria-pressed={data.viewerFollows}
        aria-label={`Follow ${data.displayName}`}
        busy={following.loading || unfollowing.loading}
        onClick={() => void toggle()}
      >
        {data.viewerFollows ? "Following" : "Follow"}
      </Button>
      {problem && (
        <p role="alert" className="mt-1 max-w-48 text-sm text-warn">
          {problem}
        </p>
      )}
    </div>
  );
}
