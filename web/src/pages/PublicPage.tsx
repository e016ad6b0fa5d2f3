import { useQuery } from "@apollo/client/react";
import { PublicPageDocument } from "../api/generated.ts";
import { Feed } from "../timeline/Feed.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";

/** What everybody posts. */
export function PublicPage() {
  const { data, error, refetch } = useQuery(PublicPageDocument);
  return (
    <>
      <PageTitle>Everybody</PageTitle>
      <div className="border-b border-line" />
      {data?.publicTimeline ? (
        <Feed timeline={data.publicTimeline} label="Everybody's posts" empty={<p>Nobody has posted anything yet.</p>} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
