import { useQuery } from "@apollo/client/react";
import { ListPageDocument } from "./Lists.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { useParams } from "../router/useParams.ts";
import { NotFoundPage } from "../pages/NotFoundPage.tsx";
import { LoginRequired } from "../session/LoginRequired.tsx";
import { useViewer } from "../session/useSession.ts";
import { Feed } from "../timeline/Feed.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { ListHeader } from "./ListHeader.tsx";

/** The timeline of one of the viewer's lists. */
export function ListPage() {
  const { t } = useI18n();
  const { id = "" } = useParams();
  const viewer = useViewer();
  const { data, error, refetch } = useQuery(ListPageDocument, { variables: { id } });
  if (viewer === null) return <LoginRequired title={t.lists.title} text={t.welcome.toSee.lists} />;
  if (data && data.node?.__typename !== "List") return <NotFoundPage text={t.lists.missing} />;
  const list = data?.node?.__typename === "List" ? data.node : undefined;
  if (!list) return error ? <Problem error={error} retry={() => void refetch()} /> : <Skeleton />;
  return (
    <>
      <ListHeader list={list} />
      <Feed
        key={list.id}
        timelineId={list.timeline.id}
        label={t.lists.timeline(list.name)}
        empty={<p>{list.size.totalCount === 0 ? t.lists.noMembers : t.lists.emptyTimeline}</p>}
      />
    </>
  );
}
