import { useMutation, useQuery } from "@apollo/client/react";
import { useState } from "react";
import { Link } from "react-router";
import { describeError, sentence } from "../api/errors.ts";
import { AddListMemberDocument, ListsWithDocument, RemoveListMemberDocument } from "../api/generated.ts";
import { useViewer } from "../session/useSession.ts";
import { MoreBelow } from "../timeline/MoreBelow.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { useNextPage } from "../ui/paging.ts";
import { Problem, Skeleton } from "../ui/states.tsx";

interface Somebody {
  userId: string;
  displayName: string;
}

/** Opens the viewer's lists, to put somebody on them. Absent for who is not logged in. */
export function AddToList(somebody: Somebody) {
  const viewer = useViewer();
  const [open, setOpen] = useState(false);
  if (!viewer || viewer.user.id === somebody.userId) return null;
  return (
    <>
      <button type="button" className="min-h-10 font-medium text-accent underline" onClick={() => setOpen(true)}>
        Add to a list
      </button>
      <Dialog open={open} title={`Lists with ${somebody.displayName}`} onClose={() => setOpen(false)}>
        <Choices {...somebody} />
        <div className="mt-5 flex items-center justify-between">
          <Link to="/lists" className="font-medium text-accent underline">
            My lists
          </Link>
          <Button onClick={() => setOpen(false)}>Done</Button>
        </div>
      </Dialog>
    </>
  );
}

function Choices({ userId, displayName }: Somebody) {
  const result = useQuery(ListsWithDocument, {
    variables: { userId },
    fetchPolicy: "cache-and-network",
    nextFetchPolicy: "cache-first",
  });
  const { data, error, refetch } = result;
  const state = useNextPage(result, data?.viewer?.lists);
  if (!data?.viewer) return error ? <Problem error={error} retry={() => void refetch()} /> : <Skeleton rows={2} />;
  const { lists } = data.viewer;
  if (lists.edges.length === 0) return <p className="text-soft">You have no lists yet.</p>;
  return (
    <div className="max-h-72 overflow-y-auto">
      <ul>
        {lists.edges.map(({ node }) => (
          <li key={node.id}>
            <Choice listId={node.id} name={node.name} userId={userId} displayName={displayName} checked={node.hasMember} />
          </li>
        ))}
      </ul>
      {state.error ? (
        <MoreBelow {...state} />
      ) : (
        state.more && (
          <Button kind="quiet" busy={state.loading} onClick={() => void state.load()}>
            More lists
          </Button>
        )
      )}
    </div>
  );
}

function Choice({ listId, name, userId, displayName, checked }: Somebody & { listId: string; name: string; checked: boolean }) {
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
      if (errors?.[0]) setProblem(sentence(errors[0].message));
    } catch (error) {
      setProblem(describeError(error));
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
          aria-description={`${displayName} is on this list`}
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
