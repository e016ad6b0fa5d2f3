import { useQuery } from "@apollo/client/react";
import type { ReactNode } from "react";
import { useNextPage } from "@retwis/client";
import { CommonFollowersPageDocument, FollowersPageDocument, FollowersYouKnowPageDocument, FollowingPageDocument, NewestUsersPageDocument } from "./People.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { PeopleList } from "../people/PeopleList.tsx";
import { ProfileHeader } from "../people/ProfileHeader.tsx";
import { useParams } from "../router/useParams.ts";
import { expectViewer } from "../session/expectation.ts";
import { LoginRequired } from "../session/LoginRequired.tsx";
import { useViewer } from "../session/useSession.ts";
import { Choice, Choices } from "../ui/Choices.tsx";
import { Title } from "../ui/Title.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";
import { PublicTabs } from "./PublicPage.tsx";
import { useReadAgain } from "./useReadAgain.ts";

/** The followers of a user. */
export function FollowersPage() {
  const { t } = useI18n();
  return <PeoplePage document={FollowersPageDocument} what={t.people.followers} followers empty={<p>{t.people.noFollowers}</p>} />;
}

/** The followers of a user whom the viewer follows. */
export function FollowersYouKnowPage() {
  const { t } = useI18n();
  return <PeoplePage document={FollowersYouKnowPageDocument} what={t.people.knownTitle} followers empty={<p>{t.people.noKnown}</p>} />;
}

/** The people who follow both a user and the viewer. */
export function CommonFollowersPage() {
  const { t } = useI18n();
  const viewer = useViewer();
  if (viewer === undefined) return <Skeleton />;
  if (viewer === null) return <LoginRequired title={t.people.commonTitle} text={t.welcome.toSee.people} />;
  return (
    <PeoplePage
      document={CommonFollowersPageDocument}
      with={viewer.user.id}
      what={t.people.commonTitle}
      followers
      empty={<p>{t.people.noCommon}</p>}
    />
  );
}

/** The people whom a user follows. */
export function FollowingPage() {
  const { t } = useI18n();
  return <PeoplePage document={FollowingPageDocument} what={t.people.following} empty={<p>{t.people.noFollowing}</p>} />;
}

interface PeoplePageProps {
  document: typeof FollowersPageDocument | typeof FollowersYouKnowPageDocument | typeof CommonFollowersPageDocument | typeof FollowingPageDocument;
  with?: string;
  what: string;
  followers?: boolean;
  empty: ReactNode;
}

function PeoplePage({ document, with: other, what, followers = false, empty }: PeoplePageProps) {
  const { t } = useI18n();
  const { username = "" } = useParams();
  const variables = { username, ...(other !== undefined && { with: other }) };
  const result = useQuery(document as typeof FollowersPageDocument, { variables, ...useReadAgain() });
  const { data, error, refetch } = result;
  const next = useNextPage(result, data?.user?.people);
  if (data?.user === null) return <NotFoundPage text={t.notFound.user(username)} />;
  const title = <Title>{t.title(t.people.titleOf(what, username))}</Title>;
  if (!data?.user) {
    return (
      <>
        {title}
        {error ? <Problem error={error} retry={() => void refetch()} /> : <Skeleton />}
      </>
    );
  }
  return (
    <>
      {title}
      <ProfileHeader user={data.user} />
      <h2 className="sr-only">{what}</h2>
      {followers && <FollowersTabs username={data.user.username} userId={data.user.id} />}
      <PeopleList edges={data.user.people.edges} paging={next} label={what} empty={empty} />
    </>
  );
}

/** The choice between all followers and those connected with the viewer. */
function FollowersTabs({ username, userId }: { username: string; userId: string }) {
  const { t } = useI18n();
  const viewer = useViewer();
  if (viewer === null || (viewer === undefined && !expectViewer())) return null;
  const base = `/u/${username}/followers`;
  return (
    <Choices label={t.people.followers}>
      <Choice to={base}>{t.people.all}</Choice>
      <Choice to={`${base}/known`}>{t.people.known}</Choice>
      {viewer?.user.id !== userId && <Choice to={`${base}/common`}>{t.people.common}</Choice>}
    </Choices>
  );
}

/** The people who registered last. */
export function NewestUsersPage() {
  const { t } = useI18n();
  const result = useQuery(NewestUsersPageDocument, useReadAgain());
  const { data, error, refetch } = result;
  const next = useNextPage(result, data?.newestUsers ?? undefined);
  return (
    <>
      <PageTitle>{t.everyone.newPeople}</PageTitle>
      <PublicTabs />
      {data?.newestUsers ? (
        <PeopleList edges={data.newestUsers.edges} paging={next} label={t.everyone.newPeople} empty={<p>{t.everyone.nobody}</p>} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
