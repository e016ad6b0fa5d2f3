import { useQuery } from "@apollo/client/react";
import { PublicPageDocument } from "./Public.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Feed } from "../timeline/Feed.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { Tab, Tabs } from "../ui/Tabs.tsx";

/** The public timeline. */
export function PublicPage() {
  const { t } = useI18n();
  const { data, error, refetch } = useQuery(PublicPageDocument);
  return (
    <>
      <PageTitle>{t.everyone.title}</PageTitle>
      <PublicTabs />
      {data?.publicTimeline ? (
        <Feed timelineId={data.publicTimeline.id} label={t.everyone.timeline} empty={<p>{t.everyone.empty}</p>} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}

/** The tabs of the public timeline and of the people who registered last. */
export function PublicTabs() {
  const { t } = useI18n();
  return (
    <Tabs label={t.everyone.tabs}>
      <Tab to="/public">{t.everyone.posts}</Tab>
      <Tab to="/public/people">{t.everyone.newPeople}</Tab>
    </Tabs>
  );
}
