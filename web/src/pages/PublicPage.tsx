import { useQuery } from "@apollo/client/react";
import { PublicPageDocument } from "../api/generated.ts";
import { Feed } from "../timeline/Feed.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { Tab, Tabs } from "../ui/Tabs.tsx";

/** What everybody posts. */
export function PublicPage() {
  const { data, error, refetch } = useQuery(PublicPageDocument);
  return (
    <>
      <PageTitle>Everybody</PageTitle>
      <PublicTabs />
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

/** From what everybody posts to who joined last, and back. */
export function PublicTabs() {
  return (
    <Tabs label="Everybody">
      <Tab to="/public">Posts</Tab>
      <Tab to="/public/people">New people</Tab>
    </Tabs>
  );
}
