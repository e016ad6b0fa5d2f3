import { useQuery } from "@apollo/client/react";
import { MentionsPageDocument } from "../api/generated.ts";
import { Feed } from "../timeline/Feed.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { WelcomePage } from "./WelcomePage.tsx";

/** The posts that mention the viewer. */
export function MentionsPage() {
  const { data, error, refetch } = useQuery(MentionsPageDocument);
  if (data?.viewer === null) return <WelcomePage />;
  return (
    <>
      <PageTitle>Mentions</PageTitle>
      <div className="border-b border-line" />
      {data?.viewer ? (
        <Feed
          timeline={data.viewer.mentionsTimeline}
          label="Mentions"
          empty={<p>Nobody has mentioned you yet. A post that has your @name in it is shown here.</p>}
        />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
