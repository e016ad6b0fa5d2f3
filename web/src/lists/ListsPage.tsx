import { useMutation, useQuery } from "@apollo/client/react";
import { Link } from "react-router";
import { CreateListDocument, ListsPageDocument } from "../api/generated.ts";
import { WelcomePage } from "../pages/WelcomePage.tsx";
import { MoreBelow, type PageState } from "../timeline/MoreBelow.tsx";
import { Button } from "../ui/Button.tsx";
import { useNextPage } from "../ui/paging.ts";
import { Empty, PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { ListNameForm } from "./ListNameForm.tsx";
import { peopleCount } from "./peopleCount.ts";

/** The viewer's lists, and the making of new ones. */
export function ListsPage() {
  const result = useQuery(ListsPageDocument, {
    fetchPolicy: "cache-and-network",
    nextFetchPolicy: "cache-first",
  });
  const [create] = useMutation(CreateListDocument);
  const { client, data, error, refetch } = result;
  const next = useNextPage(result, data?.viewer?.lists);
  if (data?.viewer === null) return <WelcomePage />;
  const viewer = data?.viewer;
  const make = async (name: string) => {
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
      <PageTitle>Lists</PageTitle>
      <ListNameForm label="Name of a new list" action="Make a list" save={make} />
      <div className="border-b border-line" />
      {viewer ? (
        viewer.lists.edges.length === 0 ? (
          <Empty>
            <p>No lists yet. A list has a timeline of its own, with the posts of the people you put on it.</p>
          </Empty>
        ) : (
          <>
            <ul aria-label="My lists">
              {viewer.lists.edges.map(({ node }) => (
                <li key={node.id} className="border-b border-line">
                  <Link to={`/lists/${encodeURIComponent(node.id)}`} className="flex items-baseline justify-between gap-4 px-4 py-4 hover:bg-wash sm:px-6">
                    <bdi className="min-w-0 font-semibold [overflow-wrap:anywhere]">{node.name}</bdi>
                    <span className="shrink-0 text-sm text-soft">{peopleCount(node.size.totalCount)}</span>
                  </Link>
                </li>
              ))}
            </ul>
            <More {...next} />
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

function More(state: PageState) {
  if (state.loading || state.error || !state.more) return <MoreBelow {...state} />;
  return (
    <p className="flex justify-center py-5">
      <Button kind="quiet" onClick={() => void state.load()}>
        More lists
      </Button>
    </p>
  );
}
