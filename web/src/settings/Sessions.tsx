import { useMutation, useQuery } from "@apollo/client/react";
import { useState } from "react";
import { describeError, describeUserError } from "../api/errors.ts";
import type { SessionsQuery } from "../api/generated.ts";
import { LogoutDocument, LogoutEverywhereDocument } from "../session/session.documents.ts";
import { RevokeSessionDocument, SessionsDocument } from "./Settings.documents.ts";
import { useServices } from "../app/services.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "../ui/Button.tsx";
import { useAgo } from "../ui/clock.ts";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { Problem, Skeleton } from "../ui/states.tsx";
import { describeClient } from "./describeClient.ts";
import { useLeave } from "./useLeave.ts";

type Session = NonNullable<SessionsQuery["viewer"]>["sessions"][number];

/** The viewer's sessions, and buttons to end them. */
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
  const i18n = useI18n();
  const { t, format } = i18n;
  const { client } = useServices();
  const [revoke, { loading }] = useMutation(RevokeSessionDocument);
  const [problem, setProblem] = useState<string>();
  const seen = useAgo(session.lastSeenAt);
  const what = describeClient(session.userAgent, t);
  const since = t.settings.since(format.brief(new Date(session.createdAt)));
  const end = async () => {
    setProblem(undefined);
    try {
      const failure = (await revoke({ variables: { sessionId: session.id } })).data?.revokeSession?.userErrors[0];
      if (failure) return setProblem(describeUserError(failure, i18n));
      client.cache.updateQuery({ query: SessionsDocument }, (before) =>
        before?.viewer ? { viewer: { ...before.viewer, sessions: before.viewer.sessions.filter(({ id }) => id !== session.id) } } : undefined,
      );
    } catch (error) {
      setProblem(describeError(error, i18n));
    }
  };
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <div className="min-w-0 flex-1">
        <p className="font-medium [overflow-wrap:anywhere]" title={session.userAgent ?? undefined}>
          {what}
        </p>
        <p className="text-sm text-soft">
          {session.current ? t.settings.thisSession : t.settings.lastUsed(seen)} · {since}
        </p>
        {problem && (
          <p role="alert" className="mt-1 text-sm text-warn">
            {problem}
          </p>
        )}
      </div>
      {!session.current && (
        <Button kind="quiet" busy={loading} data-session={session.id} aria-label={t.settings.logOutOf(what)} onClick={() => void end()}>
          {t.settings.logOut}
        </Button>
      )}
    </li>
  );
}

function LogoutButtons() {
  const i18n = useI18n();
  const { t } = i18n;
  const leave = useLeave();
  const [logout, { loading }] = useMutation(LogoutDocument);
  const [logoutEverywhere] = useMutation(LogoutEverywhereDocument);
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async () => {
    setProblem(undefined);
    try {
      await logout();
      await leave();
    } catch (error) {
      setProblem(describeError(error, i18n));
    }
  };
  const confirm = async () => {
    await logoutEverywhere();
    await leave();
    return [];
  };
  return (
    <>
      <div className="flex flex-wrap gap-3">
        <Button kind="quiet" busy={loading} onClick={() => void run()}>
          {t.settings.logOut}
        </Button>
        <Button kind="danger" onClick={() => setAsking(true)}>
          {t.settings.logOutEverywhere}
        </Button>
      </div>
      <p role="status" className="mt-2 min-h-5 text-sm text-warn">
        {problem}
      </p>
      <ConfirmDialog
        open={asking}
        title={t.settings.logOutEverywhereTitle}
        text={t.settings.logOutEverywhereText}
        action={t.settings.logOutEverywhere}
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      />
    </>
  );
}
