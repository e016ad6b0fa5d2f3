import type { FragmentType } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { PersonRow_UserFragmentDoc, type PersonRow_UserFragment } from "../api/generated.ts";
import { Avatar } from "./Avatar.tsx";
import { FollowButton } from "./FollowButton.tsx";

/** Somebody, in a list of people, with what can be done: to follow them unless something else is. */
export function PersonRow({ user, action }: { user: FragmentType<PersonRow_UserFragment>; action?: ReactNode }) {
  const { data, complete } = useFragment({ fragment: PersonRow_UserFragmentDoc, fragmentName: "PersonRow_user", from: user });
  if (!complete) return <div className="h-px" />;
  return (
    <div className="flex items-start gap-3 border-b border-line px-4 py-4 sm:px-6">
      <Avatar username={data.username} displayName={data.displayName} />
      <div className="min-w-0 flex-1">
        <Link to={`/u/${data.username}`} className="block truncate font-semibold hover:underline">
          <bdi>{data.displayName}</bdi>
        </Link>
        <p className="truncate text-sm text-soft">@{data.username}</p>
        {data.bio && (
          <p dir="auto" className="mt-1 line-clamp-2 text-sm [overflow-wrap:anywhere]">
            {data.bio}
          </p>
        )}
      </div>
      {action ?? <FollowButton user={data} />}
    </div>
  );
}
