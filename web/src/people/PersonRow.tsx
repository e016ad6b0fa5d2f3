import type { FragmentType } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { PersonRow_UserFragment } from "../api/generated.ts";
import { PersonRow_UserFragmentDoc } from "./PersonRow.documents.ts";
import { Avatar } from "./Avatar.tsx";
import { FollowButton } from "./FollowButton.tsx";

export interface PersonRowProps {
  user: FragmentType<PersonRow_UserFragment>;
  /** An action in place of following. */
  action?: ReactNode;
  /** Without bio, and with less space around. */
  compact?: boolean;
}

/** A person in a list of people, and a button to follow them. */
export function PersonRow({ user, action, compact = false }: PersonRowProps) {
  const { data, complete } = useFragment({ fragment: PersonRow_UserFragmentDoc, fragmentName: "PersonRow_user", from: user });
  if (!complete) return <div className="h-px" />;
  return (
    <div className={`flex items-start gap-3 ${compact ? "px-2 py-2.5" : "border-b border-line px-4 py-4 sm:px-6"}`}>
      <Avatar username={data.username} displayName={data.displayName} />
      <div className="min-w-0 flex-1">
        <Link to={`/u/${data.username}`} className="block truncate font-semibold hover:underline">
          <bdi>{data.displayName}</bdi>
        </Link>
        <p className="truncate text-sm text-soft">@{data.username}</p>
        {data.bio && !compact && (
          <p dir="auto" className="mt-1 line-clamp-2 text-sm [overflow-wrap:anywhere]">
            {data.bio}
          </p>
        )}
        {compact && <FollowButton user={data} compact />}
      </div>
      {!compact && (action ?? <FollowButton user={data} />)}
    </div>
  );
}
