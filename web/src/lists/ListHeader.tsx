import { useMutation } from "@apollo/client/react";
import { useState } from "react";
import type { ListHeader_ListFragment } from "../api/generated.ts";
import { DeleteListDocument, RenameListDocument } from "./Lists.documents.ts";
import { useServices } from "../app/services.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { navigate } from "../router/visit.ts";
import { Button } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { PageTitle } from "../ui/states.tsx";
import { Tab, Tabs } from "../ui/Tabs.tsx";
import { Title } from "../ui/Title.tsx";
import { ListNameForm } from "./ListNameForm.tsx";

/** The name of a list, what can be done with it, and the tabs of its posts and people. */
export function ListHeader({ list }: { list: Omit<ListHeader_ListFragment, " $fragmentName"> }) {
  const { t, format } = useI18n();
  const { client } = useServices();
  const [renaming, setRenaming] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [rename] = useMutation(RenameListDocument);
  const [remove] = useMutation(DeleteListDocument);
  const save = async (name: string) => {
    const renamed = (await rename({ variables: { input: { listId: list.id, name } } })).data?.renameList;
    if (renamed?.list) setRenaming(false);
    return renamed?.userErrors ?? [];
  };
  const confirm = async () => {
    const failures = (await remove({ variables: { listId: list.id } })).data?.deleteList?.userErrors ?? [];
    if (failures.length > 0) return failures;
    navigate("/lists", { replace: true });
    client.cache.removeList(list.id);
    return [];
  };
  const base = `/lists/${encodeURIComponent(list.id)}`;
  const { totalCount } = list.size;
  return (
    <>
      {renaming ? (
        <div className="pt-5">
          <Title>{t.title(list.name)}</Title>
          <h1 className="sr-only">{list.name}</h1>
          <ListNameForm label={t.lists.renameLabel} action={t.lists.rename} initial={list.name} save={save} onCancel={() => setRenaming(false)} />
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
              {t.lists.rename}
            </Button>
            <Button kind="danger" onClick={() => setDeleting(true)}>
              {t.delete}
            </Button>
          </div>
        </div>
      )}
      <Tabs label={t.lists.tabs}>
        <Tab to={base}>{t.lists.posts}</Tab>
        <Tab to={`${base}/members`}>{t.people.count(totalCount, format.number(totalCount))}</Tab>
      </Tabs>
      <ConfirmDialog
        open={deleting}
        title={t.lists.deleteTitle(list.name)}
        text={t.lists.deleteText}
        action={t.delete}
        onConfirm={confirm}
        onClose={() => setDeleting(false)}
      />
    </>
  );
}
