import { useFragment, useQuery } from "@apollo/client/react";
import { maxUnread, TimelineUnreadFragmentDoc } from "@retwis/client";
import { useUnreadUpdates } from "@retwis/client/unread";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import type { ListsPageQuery } from "../api/generated.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { ListsPageDocument } from "../lists/Lists.documents.ts";
import type { Viewer } from "../session/useSession.ts";

/** How long a page is left alone before the numbers are read, in milliseconds. */
const delay = 2_000;
/** Of how many lists, the newest ones, unread posts are counted. */
const countedLists = 10;

/** Keeps the numbers of unread posts current: of the home timeline, the mentions and some lists. */
export function UnreadUpdates({ viewer }: { viewer: Viewer }) {
  const due = useDelay(delay);
  const onLists = useLocation()[0] === "/lists"; // this page reads them itself
  const { data, loading } = useQuery(ListsPageDocument, { skip: !due, fetchPolicy: onLists ? "cache-only" : "cache-first" });
  useUnreadUpdates(due && !loading ? [viewer.homeTimeline.id, viewer.mentionsTimeline.id, ...listTimelines(data)] : []);
  return null;
}

/** The number of unread posts in some timelines together, beside the link to them. */
export function UnreadIn({ timelineIds, className = inNavigation }: { timelineIds: readonly string[]; className?: string }) {
  const { t, format } = useI18n();
  const { data } = useFragment({
    fragment: TimelineUnreadFragmentDoc,
    from: timelineIds.map((id) => ({ __typename: "Timeline" as const, id })),
  });
  const count = data.reduce((sum, timeline) => sum + (timeline?.unreadCount ?? 0), 0);
  if (count === 0) return null;
  const number = format.numberUpTo(maxUnread, count);
  return (
    <span className={`flex h-5 min-w-5 items-center justify-center rounded-full bg-accent px-1.5 text-xs font-semibold text-accent-ink tabular-nums ${className}`}>
      <span aria-hidden="true">{number}</span>
      <span className="sr-only">{t.nav.unread(number)}</span>
    </span>
  );
}

const inNavigation = "absolute top-0 left-1/2 ml-1 sm:static sm:ml-auto";

/** The number of unread posts in the lists. */
export function UnreadInLists() {
  const { data } = useQuery(ListsPageDocument, { fetchPolicy: "cache-only" });
  return <UnreadIn timelineIds={listTimelines(data)} />;
}

function listTimelines(data: ListsPageQuery | undefined): string[] {
  return data?.viewer?.lists.edges.slice(0, countedLists).map(({ node }) => node.timeline.id) ?? [];
}

/** Reports whether a time has passed since the component was mounted. */
function useDelay(milliseconds: number): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), milliseconds);
    return () => clearTimeout(timer);
  }, [milliseconds]);
  return passed;
}
