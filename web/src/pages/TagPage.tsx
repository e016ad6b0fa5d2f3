import { useQuery } from "@apollo/client/react";
import { Redirect } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { foldTag, tagPath } from "../posts/tagPath.ts";
import { useParams } from "../router/useParams.ts";
import { Feed } from "../timeline/Feed.tsx";
import { Empty, PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { TagPageDocument } from "./Tag.documents.ts";

/** The posts with a hashtag. */
export function TagPage() {
  const { t } = useI18n();
  const { name = "" } = useParams();
  const { data, error, refetch } = useQuery(TagPageDocument, { variables: { name: foldTag(name) } });
  if (name !== foldTag(name)) return <Redirect to={tagPath(name)} replace />;
  const spelled = data?.tag?.name ?? name;
  return (
    <>
      <PageTitle title={`#${spelled}`}>
        <bdi className="[overflow-wrap:anywhere]">#{spelled}</bdi>
      </PageTitle>
      <div className="border-b border-line" />
      {data?.tag ? (
        <Feed key={data.tag.id} timelineId={data.tag.timeline.id} label={t.tags.timeline(spelled)} empty={<p>{t.tags.empty(spelled)}</p>} />
      ) : data ? (
        <Empty>{t.tags.empty(spelled)}</Empty>
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
