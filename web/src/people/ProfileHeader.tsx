import type { FragmentType } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import { Link } from "wouter";
import type { ProfileHeader_UserFragment } from "../api/generated.ts";
import { ProfileHeader_UserFragmentDoc } from "./ProfileHeader.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { AddToList } from "../lists/AddToList.tsx";
import { RichText } from "../posts/RichText.tsx";
import { Tab, Tabs } from "../ui/Tabs.tsx";
import { Avatar } from "./Avatar.tsx";
import { FollowButton } from "./FollowButton.tsx";
import { ProfileMenu } from "./ProfileMenu.tsx";

/** A user's profile, and the tabs of their posts and people. */
export function ProfileHeader({ user }: { user: FragmentType<ProfileHeader_UserFragment> }) {
  const { t, format } = useI18n();
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
              {data.followsViewer && <span className="rounded bg-wash px-1.5 text-sm whitespace-nowrap text-ink">{t.profile.followsYou}</span>}
            </p>
          </div>
          <div className="flex shrink-0 items-start gap-2">
            <ProfileMenu user={data} />
            <FollowButton user={data} invite />
          </div>
        </div>
        {data.bio && <RichText text={data.bio} entities={data.bioEntities} className="mt-4" />}
        <div className="mt-2 flex min-h-10 flex-wrap items-center justify-between gap-x-4 text-sm text-soft">
          <p>{t.profile.joined(format.month(new Date(data.createdAt)))}</p>
          <AddToList userId={data.id} displayName={data.displayName} />
        </div>
        {data.known.totalCount > 0 && (
          <p className="text-sm text-soft [overflow-wrap:anywhere]">
            <Link to={`${base}/followers/known`} className="hover:underline">
              {t.profile.followedBy(<KnownNames key="names" {...data.known} />)}
            </Link>
          </p>
        )}
      </div>
      <Tabs label={t.profile.tabs}>
        <Tab to={base} inner={`${base}/replies`}>
          <Counted value={data.postCount} noun={t.profile.posts(data.postCount)} />
        </Tab>
        <Tab to={`${base}/followers`} inner>
          <Counted value={data.followerCount} noun={t.profile.followers(data.followerCount)} />
        </Tab>
        <Tab to={`${base}/following`}>
          <Counted value={data.followingCount} noun={t.profile.following} />
        </Tab>
      </Tabs>
    </>
  );
}

function Counted({ value, noun }: { value: number; noun: string }) {
  const { format } = useI18n();
  return (
    <>
      <strong className="font-semibold text-ink tabular-nums">{format.number(value)}</strong> {noun}
    </>
  );
}

/** The names of known followers: a few of them, and the number of others. */
function KnownNames({ totalCount, edges }: ProfileHeader_UserFragment["known"]) {
  const { t, format } = useI18n();
  const names = edges.map((edge) => edge.node.displayName);
  const others = totalCount - names.length;
  if (others > 0) names.push(t.profile.others(others, format.number(others)));
  return format.list(names).map(({ type, value }, i) => (type === "element" ? <bdi key={i}>{value}</bdi> : value));
}
