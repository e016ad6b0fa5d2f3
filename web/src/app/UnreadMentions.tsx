import { useUnreadCount } from "@retwis/client/unread";
import { useEffect } from "react";
import { useLocation } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import type { Viewer } from "../session/useSession.ts";

/** The number of mentions that the viewer has not seen, beside the link to them. */
export default function UnreadMentions({ viewer }: { viewer: Viewer }) {
  const { t, format } = useI18n();
  const { count, markRead } = useUnreadCount(viewer.mentionsTimeline.id);
  const reading = useLocation()[0] === "/mentions";
  useEffect(() => {
    if (reading && count > 0) markRead();
  }, [reading, count, markRead]);
  if (count === 0 || reading) return null;
  return (
    <span className="absolute top-0 left-1/2 ml-1 flex h-5 min-w-5 items-center justify-center rounded-full bg-accent px-1.5 text-xs font-semibold text-accent-ink tabular-nums sm:static sm:ml-auto">
      <span aria-hidden="true">{format.number(count)}</span>
      <span className="sr-only">{t.nav.mentionsUnread(format.number(count))}</span>
    </span>
  );
}
