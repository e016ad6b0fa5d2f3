import { useQuery } from "@apollo/client/react";
import { useParams } from "react-router";
import { ProfilePageDocument } from "../api/generated.ts";
import { ProfileHeader } from "../people/ProfileHeader.tsx";
import { Feed } from "../timeline/Feed.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";

/** Somebody's posts. */
export function ProfilePage() {
  const { username = "" } = useParams();
  const { data, error, refetch } = useQuery(ProfilePageDocument, { variables: { username } });
  if (data?.user === null) return <NotFoundPage what={`There is nobody called @${username}.`} />;
  return (
    <>
      <title>{`@${username} — Retwis`}</title>
      {data?.user ? (
        <>
          <ProfileHeader user={data.user} />
          <Feed key={data.user.id} timeline={data.user.timeline} label={`Posts of @${username}`} empty={<p>@{username} has not posted yet.</p>} />
        </>
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
