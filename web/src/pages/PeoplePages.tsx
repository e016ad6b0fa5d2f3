import { useQuery } from "@apollo/client/react";
import type { ReactNode } from "react";
import { useParams } from "react-router";
import { Virtuoso } from "react-virtuoso";
import { FollowersPageDocument, FollowingPageDocument } from "../api/generated.ts";
import { PersonRow } from "../people/PersonRow.tsx";
import { ProfileHeader } from "../people/ProfileHeader.tsx";
import { MoreBelow, type PageState } from "../timeline/MoreBelow.tsx";
import { Empty, Problem, Skeleton } from "../ui/states.tsx";
import { NotFoundPage } from "./NotFoundPage.tsx";

/** Those who follow somebody. */
export function FollowersPage() {
  return <PeoplePage document={FollowersPageDocument} what="Followers" empty={<p>Nobody follows them yet.</p>} />;
}

/** Those whom somebody follows. */
export function FollowingPage() {
  return <PeoplePage document={FollowingPageDocument} what="Following" empty={<p>They do not follow anybody yet.</p>} />;
}

/** People in the first frame: a screen full. */
const firstFrame = 16;

type Documents = typeof FollowersPageDocument | typeof FollowingPageDocument;

function PeoplePage({ document, what, empty }: { document: Documents; what: string; empty: ReactNode }) {
  const { username = "" } = useParams();
  // Lists of people are not live: what is known is shown, and read anew.
  const { data, error, loading, refetch, fetchMore } = useQuery(document as typeof FollowersPageDocument, {
    variables: { username },
    fetchPolicy: "cache-and-network",
    nextFetchPolicy: "cache-first",
    notifyOnNetworkStatusChange: true,
  });
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
  const { edges, pageInfo } = data.user.people;
  const load = async () => {
    if (!loading && pageInfo.hasNextPage) await fetchMore({ variables: { after: pageInfo.endCursor } }).catch(() => undefined);
  };
  const state: PageState = { loading, error, more: pageInfo.hasNextPage, load };
  return (
    <>
      {title}
      <ProfileHeader user={data.user} />
      <h2 className="sr-only">{what}</h2>
      {edges.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <Virtuoso
          useWindowScroll
          data={edges}
          initialItemCount={Math.min(edges.length, firstFrame)}
          context={state}
          computeItemKey={(_, edge) => edge.node.id}
          itemContent={(_, edge) => <PersonRow user={edge.node} />}
          endReached={() => void load()}
          components={{ Footer: PeopleFooter }}
        />
      )}
    </>
  );
}

function PeopleFooter({ context }: { context: PageState }) {
  return <MoreBelow {...context} />;
}
