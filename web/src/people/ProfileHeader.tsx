import type { FragmentType } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import { NavLink } from "react-router";
import { ProfileHeader_UserFragmentDoc, type ProfileHeader_UserFragment } from "../api/generated.ts";
import { Avatar } from "./Avatar.tsx";
import { FollowButton } from "./FollowButton.tsx";

const joined = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });
const count = new Intl.NumberFormat("en");

/** Who somebody is, and the way to their posts and people. */
export function ProfileHeader({ user }: { user: FragmentType<ProfileHeader_UserFragment> }) {
  const { data, complete } = useFragment({ fragment: ProfileHeader_UserFragmentDoc, fragmentName: "ProfileHeader_user", from: user });
  if (!complete) return null;
  const base = `/u/${data.username}`;
  return (
    <>
      <div className="px-4 pt-6 pb-4 sm:px-6">
        <div className="flex items-start gap-4">
          <Avatar username={data.username} displayName={data.displayName} large />
          <div className="min-w-0 flex-1">
            <h1 className="font-serif text-2xl leading-tight font-semibold tracking-tight [overflow-wrap:anywhere]">
              <bdi>{data.displayName}</bdi>
            </h1>
            <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft">
              @{data.username}
              {data.followsViewer && <span className="rounded bg-wash px-1.5 text-sm whitespace-nowrap text-ink">Follows you</span>}
            </p>
          </div>
          <FollowButton user={data} />
        </div>
        {data.bio && (
          <p dir="auto" className="post-text mt-4">
            {data.bio}
          </p>
        )}
        <p className="mt-3 text-sm text-soft">Here since {joined.format(new Date(data.createdAt))}</p>
      </div>
      <nav aria-label="Profile" className="flex border-b border-line px-2 sm:px-4">
        <Tab to={base} value={data.postCount} label={data.postCount === 1 ? "post" : "posts"} />
        <Tab to={`${base}/followers`} value={data.followerCount} label={data.followerCount === 1 ? "follower" : "followers"} />
        <Tab to={`${base}/following`} value={data.followingCount} label="following" />
      </nav>
    </>
  );
}

function Tab({ to, value, label }: { to: string; value: number; label: string }) {
  return (
    <NavLink
      to={to}
      end
      className="-mb-px border-b-2 border-transparent px-2.5 py-2.5 text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
    >
      <strong className="font-semibold text-ink tabular-nums">{count.format(value)}</strong> {label}
    </NavLink>
  );
}
