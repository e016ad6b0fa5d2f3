import { useMutation, useQuery } from "@apollo/client/react";
import { useNextPage } from "@retwis/client";
import { Suspense, useState } from "react";
import { describeError, describeUserError } from "../api/errors.ts";
import { AddListMemberDocument, FindUserDocument, ListMembersPageDocument, RemoveListMemberDocument } from "./Lists.documents.ts";
import { useServices } from "../app/services.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { useParams } from "../router/useParams.ts";
import { NotFoundPage } from "../pages/NotFoundPage.tsx";
import { PeopleList } from "../people/PeopleList.tsx";
import { LoginRequired } from "../session/LoginRequired.tsx";
import { useViewer } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { lazily } from "../ui/lazily.ts";
import { Problem, Skeleton } from "../ui/states.tsx";
import { ListHeader } from "./ListHeader.tsx";

const PersonField = lazily(async () => (await import("../people/PersonField.tsx")).PersonField);

/** The people on one of the viewer's lists. */
export function ListMembersPage() {
  const { t } = useI18n();
  const { id = "" } = useParams();
  const viewer = useViewer();
  const result = useQuery(ListMembersPageDocument, {
    variables: { id },
    fetchPolicy: "cache-and-network",
    nextFetchPolicy: "cache-first",
  });
  const { data, error, refetch } = result;
  const list = data?.node?.__typename === "List" ? data.node : undefined;
  const paging = useNextPage(result, list?.people);
  if (viewer === null) return <LoginRequired title={t.lists.title} text={t.welcome.toSee.lists} />;
  if (data && !list) return <NotFoundPage text={t.lists.missing} />;
  if (!list) return error ? <Problem error={error} retry={() => void refetch()} /> : <Skeleton />;
  return (
    <>
      <ListHeader list={list} />
      <h2 className="sr-only">{t.lists.members}</h2>
      <AddMember listId={list.id} onAdded={() => void refetch()} />
      <PeopleList
        edges={list.people.edges}
        paging={paging}
        label={t.lists.members}
        empty={<p>{t.lists.noMembersHint}</p>}
        action={(userId) => <RemoveMember listId={list.id} userId={userId} />}
      />
    </>
  );
}

function AddMember({ listId, onAdded }: { listId: string; onAdded: () => void }) {
  const i18n = useI18n();
  const { t } = i18n;
  const { client } = useServices();
  const [add] = useMutation(AddListMemberDocument);
  const [outcome, setOutcome] = useState<{ problem?: string; done?: string }>({});
  const addId = async (userId: string, name: string) => {
    setOutcome({});
    try {
      const failure = (await add({ variables: { listId, userId } })).data?.addListMember?.userErrors[0];
      if (failure) return setOutcome({ problem: describeUserError(failure, i18n) });
      setOutcome({ done: t.lists.added(name) });
      onAdded();
    } catch (error) {
      setOutcome({ problem: describeError(error, i18n) });
    }
  };
  const addName = async (username: string) => {
    setOutcome({});
    try {
      const { data } = await client.query({ query: FindUserDocument, variables: { username }, fetchPolicy: "no-cache" });
      if (data?.user) await addId(data.user.id, data.user.displayName);
      else setOutcome({ problem: t.notFound.user(username) });
    } catch (error) {
      setOutcome({ problem: describeError(error, i18n) });
    }
  };
  return (
    <div className="min-h-24 border-b border-line px-4 pt-4 sm:px-6">
      <Suspense>
        <PersonField
          popup
          label={t.lists.addLabel}
          error={outcome.problem}
          onPick={(person) => void addId(person.id, person.displayName)}
          onName={(username) => void addName(username)}
        />
      </Suspense>
      <p role="status" className="sr-only">
        {outcome.done}
      </p>
    </div>
  );
}

function RemoveMember({ listId, userId }: { listId: string; userId: string }) {
  const i18n = useI18n();
  const { client } = useServices();
  const [remove, { loading }] = useMutation(RemoveListMemberDocument);
  const [problem, setProblem] = useState<string>();
  const run = async () => {
    setProblem(undefined);
    try {
      const failure = (await remove({ variables: { listId, userId } })).data?.removeListMember?.userErrors[0];
      if (failure) return setProblem(describeUserError(failure, i18n));
      client.cache.removeMember(listId, userId);
    } catch (error) {
      setProblem(describeError(error, i18n));
    }
  };
  return (
    <div className="shrink-0 text-right">
      <Button kind="quiet" busy={loading} onClick={() => void run()}>
        {i18n.t.lists.remove}
      </Button>
      {problem && (
        <p role="alert" className="mt-1 max-w-48 text-sm text-warn">
          {problem}
        </p>
      )}
    </div>
  );
}
