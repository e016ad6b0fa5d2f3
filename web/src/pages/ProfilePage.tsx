import { useQuery } from "@apollo/client/react";
import { ProfilePageDocument } from "./Profile.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { useParams } from "../router/useParams.ts";
import { ProfileHeader } from "../people/ProfileHeader.tsx";
import { Feed } from "../timeline/Feed.tsx";
import { useViewer } from "../session/useSession.ts";
import { Choice, Choices } from "../ui/Choices.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { Title } from "../ui/Title.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";

/** A user's profile and posts. */
export function ProfilePage() {
  return <Profile includeReplies={false} />;
}

/** A user's profile and posts, with replies to other users. */
export function ProfileWithRepliesPage() {
  return <Profile includeReplies />;
}

function Profile({ includeReplies }: { includeReplies: boolean }) {
  const { t } = useI18n();
  const viewer = useViewer();
  const { username = "" } = useParams();
  const { data, previousData, error, refetch } = useQuery(ProfilePageDocument, { variables: { username, includeReplies } });
  if (data?.user === null) return <NotFoundPage text={t.notFound.user(username)} />;
  const user = data?.user ?? previousData?.user;
  const base = `/u/${username}`;
  return (
    <>
      <Title>{t.title(`@${username}`)}</Title>
      {user && (
        <>
          <ProfileHeader user={user} />
          <Choices label={t.profile.choice}>
            <Choice to={base}>{t.profile.postsOnly}</Choice>
            <Choice to={`${base}/replies`}>{t.profile.withReplies}</Choice>
            {viewer?.user.username === username && <Choice to="/likes">{t.likes.title}</Choice>}
          </Choices>
        </>
      )}
      {data?.user ? (
        <Feed
          key={data.user.timeline.id}
          timelineId={data.user.timeline.id}
          label={includeReplies ? t.profile.timelineWithReplies(username) : t.profile.timeline(username)}
          empty={<p>{t.profile.empty(username)}</p>}
        />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
