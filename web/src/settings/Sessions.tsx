import { useMutation, useQuery } from "@apollo/client/react";
import { useState } from "react";
import { describeError, sentence } from "../api/errors.ts";
import { LogoutDocument, LogoutEverywhereDocument, RevokeSessionDocument, SessionsDocument, type SessionsQuery } from "../api/generated.ts";
import { useServices } from "../app/services.ts";
import { Button } from "../ui/Button.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { ago, useRelativeTime } from "../ui/time.ts";
import { describeClient } from "./describeClient.ts";
import { useLeaving } from "./useLeaving.ts";

type Session = NonNullable<SessionsQuery["viewer"]>["sessions"][number];

/** Where one is logged in, and how to end that. */
export function Sessions() {
  const { data, error, refetch } = useQuery(SessionsDocument, { fetchPolicy: "cache-and-network" });
  return (
    <>
      {data?.viewer ? (
        <ul className="mb-4 divide-y divide-line rounded-xl border border-line bg-raised">
          {data.viewer.sessions.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton rows={1} />
      )}
      <LogoutButtons />
    </>
  );
}

function SessionRow({ session }: { session: Session }) {
  const { client } = useServices();
  const [revoke, { loading }] = useMutation(RevokeSessionDocument);
  const [problem, setProblem] = useState<string>();
  const seen = useRelativeTime(session.lastSeenAt);
  const what = describeClient(session.userAgent);
  const began = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" }).format(new Date(session.createdAt));
  const end = async () => {
    setProblem(undefined);
    try {
      const failure = (await revoke({ variables: { sessionId: session.id } })).data?.revokeSession?.userErrors[0];
      if (failure) return setProblem(sentence(failure.message));
      client.cache.updateQuery({ query: SessionsDocument }, (before) =>
        before?.viewer ? { viewer: { ...before.viewer, sessions: before.viewer.sessions.filter(({ id }) => id !== session.id) } } : undefined,
      );
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="font-medium [overflow-wrap:anywhere]" title={session.userAgent ?? undefined}>
          {what}
        </p>
        <p className="text-sm text-soft">
          {session.current ? "This session" : `Last used ${ago(seen)}`} · since {began}
        </p>
        {problem && (
          <p role="alert" className="mt-1 text-sm text-warn">
            {problem}
          </p>
        )}
      </div>
      {!session.current && (
        <Button kind="quiet" busy={loading} aria-label={`End the session of ${what}`} onClick={() => void end()}>
          End
        </Button>
      )}
    </li>
  );
}

function LogoutButtons() {
  const { problem, leave } = useLeaving();
  const [logout, one] = useMutation(LogoutDocument);
  const [logoutEverywhere, all] = useMutation(LogoutEverywhereDocument);
  const busy = one.loading || all.loading;
  return (
    <>
      <div className="flex flex-wrap gap-3">
        <Button kind="quiet" busy={busy} onClick={() => void leave(() => logout().then(() => undefined))}>
          Log out
        </Button>
        <Button kind="danger" busy={busy} onClick={() => void leave(() => logoutEverywhere().then(() => undefined))}>
          Log out everywhere
        </Button>
      </div>
      <p role="status" className="mt-2 min-h-5 text-sm text-warn">
        {problem}
      </p>
    </>
  );
}
