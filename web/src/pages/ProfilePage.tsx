import { useQuery } from "@apollo/client/react";
import { ProfilePageDocument } from "./Profile.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { useParams } from "../router/useParams.ts";
import { ProfileHeader } from "../people/ProfileHeader.tsx";
import { Feed } from "../timeline/Feed.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { Title } from "../ui/Title.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";

/** A user's profile and posts. */
export function ProfilePage() {
  const { t } = useI18n();
  const { username = "" } = useParams();
  const { data, error, refetch } = useQuery(ProfilePageDocument, { variables: { username } });
  if (data?.user === null) return <NotFoundPage text={t.notFound.user(username)} />;
  return (
    <>
      <Title>{t.title(`@${username}`)}</Title>
      {data?.user ? (
        <>
          <ProfileHeader user={data.user} />
          <Feed key={data.user.id} timelineId={data.user.timeline.id} label={t.profile.timeline(username)} empty={<p>{t.profile.empty(username)}</p>} />
        </>
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
