import { useMutation, useQuery } from "@apollo/client/react";
import { useNextPage, type Paging } from "@retwis/client";
import { Suspense } from "react";
import { Link } from "wouter";
import { CreateListDocument, ListsPageDocument } from "./Lists.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { LoginRequired } from "../session/LoginRequired.tsx";
import { MoreBelow } from "../timeline/MoreBelow.tsx";
import { lazily } from "../ui/lazily.ts";
import { Button } from "../ui/Button.tsx";
import { Empty, PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { ListNameForm } from "./ListNameForm.tsx";

const UnreadIn = lazily(async () => (await import("../app/Unread.tsx")).UnreadIn);

/** The viewer's lists, and a form for a new one. */
export function ListsPage() {
  const { t, format } = useI18n();
  const result = useQuery(ListsPageDocument, {
    fetchPolicy: "cache-and-network",
    nextFetchPolicy: "cache-first",
  });
  const [create] = useMutation(CreateListDocument);
  const { client, data, error, refetch } = result;
  const paging = useNextPage(result, data?.viewer?.lists);
  if (data?.viewer === null) return <LoginRequired title={t.lists.title} text={t.welcome.toSee.lists} />;
  const viewer = data?.viewer;
  const save = async (name: string) => {
    const made = (await create({ variables: { input: { name } } })).data?.createList;
    const node = made?.list;
    if (node) {
      client.cache.updateQuery({ query: ListsPageDocument }, (before) =>
        before?.viewer
          ? {
              viewer: {
                ...before.viewer,
                lists: { ...before.viewer.lists, edges: [{ __typename: "ListEdge" as const, cursor: "", node }, ...before.viewer.lists.edges] },
              },
            }
          : undefined,
      );
    }
    return made?.userErrors ?? [];
  };
  return (
    <>
      <PageTitle>{t.lists.title}</PageTitle>
      <ListNameForm label={t.lists.nameLabel} action={t.lists.create} save={save} />
      <div className="border-b border-line" />
      {viewer ? (
        viewer.lists.edges.length === 0 ? (
          <Empty>
            <p>{t.lists.empty}</p>
          </Empty>
        ) : (
          <>
            <ul aria-label={t.lists.mine}>
              {viewer.lists.edges.map(({ node }) => (
                <li key={node.id} className="border-b border-line">
                  <Link to={`/lists/${encodeURIComponent(node.id)}`} className="flex items-baseline justify-between gap-4 px-4 py-4 hover:bg-wash sm:px-6">
                    <bdi className="min-w-0 font-semibold [overflow-wrap:anywhere]">{node.name}</bdi>
                    <Suspense>
                      <UnreadIn timelineIds={[node.timeline.id]} className="mr-auto self-center" />
                    </Suspense>
                    <span className="shrink-0 text-sm text-soft">{t.people.count(node.size.totalCount, format.number(node.size.totalCount))}</span>
                  </Link>
                </li>
              ))}
            </ul>
            <More {...paging} />
          </>
        )
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton rows={3} />
      )}
    </>
  );
}

function More(paging: Paging) {
  const { t } = useI18n();
  if (paging.loading || paging.error || !paging.more) return <MoreBelow {...paging} />;
  return (
    <p className="flex justify-center py-5">
      <Button kind="quiet" onClick={() => void paging.load()}>
        {t.lists.more}
      </Button>
    </p>
  );
}
