import { useMutation, useQuery } from "@apollo/client/react";
import { useState } from "react";
import { useParams } from "react-router";
import { describeError, sentence } from "../api/errors.ts";
import { AddListMemberDocument, FindUserDocument, ListMembersPageDocument, RemoveListMemberDocument } from "../api/generated.ts";
import { useServices } from "../app/services.ts";
import { NotFoundPage } from "../pages/NotFoundPage.tsx";
import { WelcomePage } from "../pages/WelcomePage.tsx";
import { PeopleList } from "../people/PeopleList.tsx";
import { PersonField } from "../people/PersonField.tsx";
import { useViewer } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { useNextPage } from "../ui/paging.ts";
import { Problem, Skeleton } from "../ui/states.tsx";
import { ListHeader } from "./ListHeader.tsx";
import { noSuchList } from "./ListPage.tsx";

/** Those on one of the viewer's lists. */
export function ListMembersPage() {
  const { id = "" } = useParams();
  const viewer = useViewer();
  const result = useQuery(ListMembersPageDocument, {
    variables: { id },
    fetchPolicy: "cache-and-network",
    nextFetchPolicy: "cache-first",
  });
  const { data, error, refetch } = result;
  const list = data?.node?.__typename === "List" ? data.node : undefined;
  const next = useNextPage(result, list?.people);
  if (viewer === null) return <WelcomePage />;
  if (data && !list) return <NotFoundPage what={noSuchList} />;
  if (!list) return error ? <Problem error={error} retry={() => void refetch()} /> : <Skeleton />;
  return (
    <>
      <ListHeader list={list} />
      <h2 className="sr-only">People on this list</h2>
      <AddMember listId={list.id} onAdded={() => void refetch()} />
      <PeopleList
        edges={list.people.edges}
        state={next}
        label="People on this list"
        empty={<p>Nobody is on this list yet. Find somebody above, or add people from their profiles.</p>}
        action={(userId) => <RemoveMember listId={list.id} userId={userId} />}
      />
    </>
  );
}

function AddMember({ listId, onAdded }: { listId: string; onAdded: () => void }) {
  const { client } = useServices();
  const [add] = useMutation(AddListMemberDocument);
  const [verdict, setVerdict] = useState<{ problem?: string; done?: string }>({});
  const addId = async (userId: string, name: string) => {
    setVerdict({});
    try {
      const failure = (await add({ variables: { listId, userId } })).data?.addListMember?.userErrors[0];
      if (failure) return setVerdict({ problem: sentence(failure.message) });
      setVerdict({ done: `${name} is on the list.` });
      onAdded();
    } catch (error) {
      setVerdict({ problem: describeError(error) });
    }
  };
  const addName = async (username: string) => {
    setVerdict({});
    try {
      const { data } = await client.query({ query: FindUserDocument, variables: { username }, fetchPolicy: "no-cache" });
      if (data?.user) await addId(data.user.id, data.user.displayName);
      else setVerdict({ problem: `There is nobody called @${username}.` });
    } catch (error) {
      setVerdict({ problem: describeError(error) });
    }
  };
  return (
    <div className="border-b border-line px-4 pt-4 sm:px-6">
      <PersonField
        popup
        label="Add somebody by username"
        error={verdict.problem}
        onPick={(person) => void addId(person.id, person.displayName)}
        onName={(username) => void addName(username)}
      />
      <p role="status" className="sr-only">
        {verdict.done}
      </p>
    </div>
  );
}

function RemoveMember({ listId, userId }: { listId: string; userId: string }) {
  const { client } = useServices();
  const [remove, { loading }] = useMutation(RemoveListMemberDocument);
  const [problem, setProblem] = useState<string>();
  const run = async () => {
    setProblem(undefined);
    try {
      const failure = (await remove({ variables: { listId, userId } })).data?.removeListMember?.userErrors[0];
      if (failure) return setProblem(sentence(failure.message));
      client.cache.dropMember(listId, userId);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  return (
    <div className="shrink-0 text-right">
      <Button kind="quiet" busy={loading} onClick={() => void run()}>
        Remove
      </Button>
      {problem && (
        <p role="alert" className="mt-1 max-w-48 text-sm text-warn">
          {problem}
        </p>
      )}
    </div>
  );
}
