import { useMutation } from "@apollo/client/react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { describeError, sentence } from "../api/errors.ts";
import { DeleteListDocument, RenameListDocument, type ListHeader_ListFragment } from "../api/generated.ts";
import { useServices } from "../app/services.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { PageTitle } from "../ui/states.tsx";
import { Tab, Tabs } from "../ui/Tabs.tsx";
import { ListNameForm } from "./ListNameForm.tsx";
import { peopleCount } from "./peopleCount.ts";

/** What a list is called, what can be done with it, and the way to its posts and people. */
export function ListHeader({ list }: { list: Omit<ListHeader_ListFragment, " $fragmentName"> }) {
  const [renaming, setRenaming] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [rename] = useMutation(RenameListDocument);
  const save = async (name: string) => {
    const renamed = (await rename({ variables: { input: { listId: list.id, name } } })).data?.renameList;
    if (renamed?.list) setRenaming(false);
    return renamed?.userErrors ?? [];
  };
  const base = `/lists/${encodeURIComponent(list.id)}`;
  return (
    <>
      {renaming ? (
        <div className="pt-5">
          <title>{`${list.name} — Retwis`}</title>
          <h1 className="sr-only">{list.name}</h1>
          <ListNameForm label="Name of the list" action="Rename" initial={list.name} save={save} onCancel={() => setRenaming(false)} />
        </div>
      ) : (
        <div className="flex flex-wrap items-start justify-between gap-x-4">
          <div className="min-w-0 flex-1 basis-full [overflow-wrap:anywhere] sm:basis-0">
            <PageTitle title={list.name}>
              <bdi>{list.name}</bdi>
            </PageTitle>
          </div>
          <div className="flex gap-2 px-4 pt-0 pb-3 sm:px-6 sm:pt-5">
            <Button kind="quiet" onClick={() => setRenaming(true)}>
              Rename
            </Button>
            <Button kind="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </div>
        </div>
      )}
      <Tabs label="List">
        <Tab to={base}>Posts</Tab>
        <Tab to={`${base}/members`}>{peopleCount(list.size.totalCount)}</Tab>
      </Tabs>
      <Dialog open={deleting} title={`Delete “${list.name}”?`} onClose={() => setDeleting(false)}>
        <DeleteList listId={list.id} onKeep={() => setDeleting(false)} />
      </Dialog>
    </>
  );
}

function DeleteList({ listId, onKeep }: { listId: string; onKeep: () => void }) {
  const { client } = useServices();
  const navigate = useNavigate();
  const [remove, { loading }] = useMutation(DeleteListDocument);
  const [problem, setProblem] = useState<string>();
  const run = async () => {
    setProblem(undefined);
    try {
      const failure = (await remove({ variables: { listId } })).data?.deleteList?.userErrors[0];
      if (failure) return setProblem(sentence(failure.message));
      void navigate("/lists", { replace: true });
      client.cache.dropList(listId);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  return (
    <>
      <p className="mb-3">The list and its timeline are gone for good. Nobody is told, and nobody is unfollowed.</p>
      <p role="status" className="mb-3 min-h-5 text-sm text-warn">
        {problem}
      </p>
      <div className="flex justify-end gap-2">
        <Button kind="quiet" onClick={onKeep}>
          Keep
        </Button>
        <Button kind="danger" busy={loading} onClick={() => void run()}>
          Yes, delete
        </Button>
      </div>
    </>
  );
}
