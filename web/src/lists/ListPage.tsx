import { useQuery } from "@apollo/client/react";
import { useParams } from "react-router";
import { ListPageDocument } from "../api/generated.ts";
import { NotFoundPage } from "../pages/NotFoundPage.tsx";
import { WelcomePage } from "../pages/WelcomePage.tsx";
import { useViewer } from "../session/useSession.ts";
import { Feed } from "../timeline/Feed.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { ListHeader } from "./ListHeader.tsx";

export const noSuchList = "There is no such list. It may have been deleted, or be somebody else’s.";

/** The timeline of one of the viewer's lists. */
export function ListPage() {
  const { id = "" } = useParams();
  const viewer = useViewer();
  const { data, error, refetch } = useQuery(ListPageDocument, { variables: { id } });
  if (viewer === null) return <WelcomePage />;
  if (data && data.node?.__typename !== "List") return <NotFoundPage what={noSuchList} />;
  const list = data?.node?.__typename === "List" ? data.node : undefined;
  if (!list) return error ? <Problem error={error} retry={() => void refetch()} /> : <Skeleton />;
  return (
    <>
      <ListHeader list={list} />
      <Feed
        key={list.id}
        timeline={list.timeline}
        label={`Posts of ${list.name}`}
        empty={<p>{list.size.totalCount === 0 ? "Nobody is on this list yet." : "The people on this list have not posted yet."}</p>}
      />
    </>
  );
}
