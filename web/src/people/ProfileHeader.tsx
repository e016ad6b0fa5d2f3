import type { FragmentType } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import { Link } from "react-router";
import { ProfileHeader_UserFragmentDoc, type ProfileHeader_UserFragment } from "../api/generated.ts";
import { AddToList } from "../lists/AddToList.tsx";
import { Tab, Tabs } from "../ui/Tabs.tsx";
import { Avatar } from "./Avatar.tsx";
import { FollowButton } from "./FollowButton.tsx";

const joined = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });
const count = new Intl.NumberFormat("en");
const conjunction = new Intl.ListFormat("en");

/** Who somebody is, and the way to their posts and people. */
export function ProfileHeader({ user }: { user: FragmentType<ProfileHeader_UserFragment> }) {
  const { data, complete } = useFragment({ fragment: ProfileHeader_UserFragmentDoc, fragmentName: "ProfileHeader_user", from: user });
  if (!complete) return null;
  const base = `/u/${data.username}`;
  return (
    <>
      <div className="px-4 pt-6 pb-4 sm:px-6">
        <div className="flex items-start justify-between gap-4 max-sm:flex-wrap">
          <Avatar username={data.username} displayName={data.displayName} large />
          <div className="min-w-0 flex-1 max-sm:order-last max-sm:basis-full">
            <h1 className="font-serif text-2xl leading-tight font-semibold tracking-tight [overflow-wrap:anywhere]">
              <bdi>{data.displayName}</bdi>
            </h1>
            <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft [overflow-wrap:anywhere]">
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
        <div className="mt-2 flex min-h-10 flex-wrap items-center justify-between gap-x-4 text-sm text-soft">
          <p>Here since {joined.format(new Date(data.createdAt))}</p>
          <AddToList userId={data.id} displayName={data.displayName} />
        </div>
        {data.known.totalCount > 0 && (
          <p className="text-sm text-soft [overflow-wrap:anywhere]">
            <Link to={`${base}/followers/known`} className="hover:underline">
              Followed by <KnownNames {...data.known} /> you follow
            </Link>
          </p>
        )}
      </div>
      <Tabs label="Profile">
        <Tab to={base}>
          <Counted value={data.postCount} one="post" many="posts" />
        </Tab>
        <Tab to={`${base}/followers`} inner>
          <Counted value={data.followerCount} one="follower" many="followers" />
        </Tab>
        <Tab to={`${base}/following`}>
          <Counted value={data.followingCount} one="following" many="following" />
        </Tab>
      </Tabs>
    </>
  );
}

function Counted({ value, one, many }: { value: number; one: string; many: string }) {
  return (
    <>
      <strong className="font-semibold text-ink tabular-nums">{count.format(value)}</strong> {value === 1 ? one : many}
    </>
  );
}

/** Says who of those one follows is there too: a few names, and how many others. */
function KnownNames({ totalCount, edges }: ProfileHeader_UserFragment["known"]) {
  const names = edges.map((edge) => edge.node.displayName);
  const others = totalCount - names.length;
  if (others > 0) names.push(`${count.format(others)} ${others === 1 ? "other" : "others"}`);
  return conjunction.formatToParts(names).map(({ type, value }, i) => (type === "element" ? <bdi key={i}>{value}</bdi> : value));
}
