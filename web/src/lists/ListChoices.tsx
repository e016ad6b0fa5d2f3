import { useMutation, useQuery } from "@apollo/client/react";
import { useNextPage } from "@retwis/client";
import { useState } from "react";
import { describeError, describeUserError } from "../api/errors.ts";
import { AddListMemberDocument, ListsWithDocument, RemoveListMemberDocument } from "./Lists.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { MoreBelow } from "../timeline/MoreBelow.tsx";
import { Button } from "../ui/Button.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";

interface Person {
  userId: string;
  displayName: string;
}

/** The viewer's lists with a checkbox each, which says whether a user is on it. */
export default function ListChoices({ userId, displayName }: Person) {
  const { t } = useI18n();
  const result = useQuery(ListsWithDocument, {
    variables: { userId },
    fetchPolicy: "cache-and-network",
    nextFetchPolicy: "cache-first",
  });
  const { data, error, refetch } = result;
  const paging = useNextPage(result, data?.viewer?.lists);
  if (!data?.viewer) return error ? <Problem error={error} retry={() => void refetch()} /> : <Skeleton rows={2} />;
  const { lists } = data.viewer;
  if (lists.edges.length === 0) return <p className="text-soft">{t.lists.none}</p>;
  return (
    <div className="max-h-72 overflow-y-auto">
      <ul>
        {lists.edges.map(({ node }) => (
          <li key={node.id}>
            <Choice listId={node.id} name={node.name} userId={userId} displayName={displayName} checked={node.hasMember} />
          </li>
        ))}
      </ul>
      {paging.error ? (
        <MoreBelow {...paging} />
      ) : (
        paging.more && (
          <Button kind="quiet" busy={paging.loading} onClick={() => void paging.load()}>
            {t.lists.more}
          </Button>
        )
      )}
    </div>
  );
}

function Choice({ listId, name, userId, displayName, checked }: Person & { listId: string; name: string; checked: boolean }) {
  const i18n = useI18n();
  const [add, adding] = useMutation(AddListMemberDocument);
  const [remove, removing] = useMutation(RemoveListMemberDocument);
  const [problem, setProblem] = useState<string>();
  const busy = adding.loading || removing.loading;
  const toggle = async () => {
    setProblem(undefined);
    try {
      const variables = { listId, userId };
      const errors = checked
        ? (await remove({ variables })).data?.removeListMember?.userErrors
        : (await add({ variables })).data?.addListMember?.userErrors;
      if (errors?.[0]) setProblem(describeUserError(errors[0], i18n));
    } catch (error) {
      setProblem(describeError(error, i18n));
    }
  };
  return (
    <>
      <label className="flex min-h-11 cursor-pointer items-center gap-3">
        <input
          type="checkbox"
          className="size-5 shrink-0 accent-accent"
          checked={checked}
          aria-disabled={busy}
          aria-description={i18n.t.lists.onList(displayName)}
          onChange={() => busy || void toggle()}
        />
        <bdi className="min-w-0 [overflow-wrap:anywhere]">{name}</bdi>
      </label>
      {problem && (
        <p role="alert" className="pb-2 text-sm text-warn">
          {problem}
        </p>
      )}
    </>
  );
}
