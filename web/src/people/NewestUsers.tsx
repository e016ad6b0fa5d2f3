import { useQuery } from "@apollo/client/react";
import { useSyncExternalStore, type ReactNode } from "react";
import { Link } from "wouter";
import { NewestUsersDocument } from "./NewestUsers.documents.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { useViewer } from "../session/useSession.ts";
import { PersonRow } from "./PersonRow.tsx";

const wide = matchMedia("(width >= 64rem)");
const interval = 60_000; // ms

/** The people who registered last, beside the page on wide screens. Others have a page for them. */
export function NewestUsers() {
  const { t } = useI18n();
  const fits = useSyncExternalStore(watchWidth, () => wide.matches);
  return (
    <aside aria-label={t.everyone.newPeople} className="sticky top-0 hidden h-dvh w-72 shrink-0 overflow-y-auto px-3 py-6 lg:block">
      {fits && (
        <People poll>
          <h2 className="mb-1 px-2 font-serif text-lg font-semibold">{t.everyone.newHere}</h2>
        </People>
      )}
    </aside>
  );
}

/** People to follow, for a timeline that has no posts yet. */
export function SuggestedPeople() {
  const { t } = useI18n();
  return (
    <div className="mx-auto max-w-sm text-left text-ink">
      <People>
        <h2 className="mb-1 px-2 font-serif text-lg font-semibold">{t.home.suggestions}</h2>
      </People>
    </div>
  );
}

function People({ poll = false, children }: { poll?: boolean; children: ReactNode }) {
  const { t } = useI18n();
  const viewer = useViewer();
  const { data } = useQuery(NewestUsersDocument, poll ? { pollInterval: interval, skipPollAttempt: () => document.hidden } : {});
  const people = data?.newestUsers?.edges.filter(({ node }) => node.id !== viewer?.user.id).slice(0, 5) ?? [];
  if (people.length === 0 || viewer === undefined) return null;
  return (
    <>
      {children}
      <ul>
        {people.map(({ node }) => (
          <li key={node.id}>
            <PersonRow user={node} compact />
          </li>
        ))}
      </ul>
      <Link to="/public/people" className="mt-3 inline-block px-2 text-sm font-medium text-accent underline">
        {t.everyone.allNewPeople}
      </Link>
    </>
  );
}

function watchWidth(listener: () => void): () => void {
  wide.addEventListener("change", listener);
  return () => wide.removeEventListener("change", listener);
}
