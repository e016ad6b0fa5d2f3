import { useQuery } from "@apollo/client/react";
import type { ReactNode } from "react";
import { NavLink, useNavigationType, useParams } from "react-router";
import {
  CommonFollowersPageDocument,
  FollowersPageDocument,
  FollowersYouKnowPageDocument,
  FollowingPageDocument,
  NewestUsersPageDocument,
} from "../api/generated.ts";
import { PeopleList } from "../people/PeopleList.tsx";
import { ProfileHeader } from "../people/ProfileHeader.tsx";
import { expectViewer } from "../session/expectation.ts";
import { useViewer } from "../session/useSession.ts";
import { useNextPage } from "../ui/paging.ts";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";
import { PublicTabs } from "./PublicPage.tsx";
import { WelcomePage } from "./WelcomePage.tsx";

/** Those who follow somebody. */
export function FollowersPage() {
  return <PeoplePage document={FollowersPageDocument} what="Followers" followers empty={<p>Nobody follows them yet.</p>} />;
}

/** Those of somebody's followers whom the viewer follows. */
export function FollowersYouKnowPage() {
  return (
    <PeoplePage
      document={FollowersYouKnowPageDocument}
      what="Followers you follow"
      followers
      empty={<p>Nobody whom you follow follows them.</p>}
    />
  );
}

/** Those who follow somebody and the viewer. */
export function CommonFollowersPage() {
  const viewer = useViewer();
  if (viewer === undefined) return <Skeleton />;
  if (viewer === null) return <WelcomePage />;
  return (
    <PeoplePage
      document={CommonFollowersPageDocument}
      with={viewer.user.id}
      what="Followers you share"
      followers
      empty={<p>Nobody follows both of you.</p>}
    />
  );
}

/** Those whom somebody follows. */
export function FollowingPage() {
  return <PeoplePage document={FollowingPageDocument} what="Following" empty={<p>They do not follow anybody yet.</p>} />;
}

/**
 * Lists of people are not live: what is known is shown, and read anew. Who comes back to one
 * finds it as long as it was.
 */
function useReadAnew() {
  const fetchPolicy = useNavigationType() === "POP" ? "cache-first" : "cache-and-network";
  return { fetchPolicy, nextFetchPolicy: "cache-first" } as const;
}

interface PeoplePageProps {
  document: typeof FollowersPageDocument | typeof FollowersYouKnowPageDocument | typeof CommonFollowersPageDocument | typeof FollowingPageDocument;
  with?: string;
  what: string;
  followers?: boolean;
  empty: ReactNode;
}

function PeoplePage({ document, with: other, what, followers = false, empty }: PeoplePageProps) {
  const { username = "" } = useParams();
  const variables = { username, ...(other !== undefined && { with: other }) };
  const result = useQuery(document as typeof FollowersPageDocument, { variables, ...useReadAnew() });
  const { data, error, refetch } = result;
  const next = useNextPage(result, data?.user?.people);
  if (data?.user === null) return <NotFoundPage what={`There is nobody called @${username}.`} />;
  const title = <title>{`${what} of @${username} — Retwis`}</title>;
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
      <PeopleList edges={data.user.people.edges} state={next} label={what} empty={empty} />
    </>
  );
}

/** Which followers: all of them, or those who have to do with the viewer. */
function FollowersTabs({ username, userId }: { username: string; userId: string }) {
  const viewer = useViewer();
  if (viewer === null || (viewer === undefined && !expectViewer())) return null;
  const base = `/u/${username}/followers`;
  return (
    <nav aria-label="Followers" className="flex flex-wrap gap-2 border-b border-line px-4 py-3 sm:px-6">
      <Choice to={base}>All</Choice>
      <Choice to={`${base}/known`}>You follow</Choice>
      {viewer?.user.id !== userId && <Choice to={`${base}/common`}>Follow you too</Choice>}
    </nav>
  );
}

function Choice({ to, children }: { to: string; children: string }) {
  return (
    <NavLink
      to={to}
      end
      className="rounded-full border border-line px-3 py-1 text-sm hover:bg-wash aria-[current=page]:border-accent aria-[current=page]:bg-wash aria-[current=page]:font-semibold"
    >
      {children}
    </NavLink>
  );
}

/** Those who joined last. */
export function NewestUsersPage() {
  const result = useQuery(NewestUsersPageDocument, useReadAnew());
  const { data, error, refetch } = result;
  const next = useNextPage(result, data?.newestUsers ?? undefined);
  return (
    <>
      <PageTitle>New people</PageTitle>
      <PublicTabs />
      {data?.newestUsers ? (
        <PeopleList edges={data.newestUsers.edges} state={next} label="New people" empty={<p>Nobody is here yet.</p>} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
