import { useQuery } from "@apollo/client/react";
import { MentionsPageDocument } from "./Mentions.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { LoginRequired } from "../session/LoginRequired.tsx";
import { Feed } from "../timeline/Feed.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";

/** The posts that mention the viewer. */
export function MentionsPage() {
  const { t } = useI18n();
  const { data, error, refetch } = useQuery(MentionsPageDocument);
  if (data?.viewer === null) return <LoginRequired title={t.mentions.title} text={t.welcome.toSee.mentions} />;
  return (
    <>
      <PageTitle>{t.mentions.title}</PageTitle>
      <div className="border-b border-line" />
      {data?.viewer ? (
        <Feed timelineId={data.viewer.mentionsTimeline.id} label={t.mentions.title} empty={<p>{t.mentions.empty}</p>} />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
