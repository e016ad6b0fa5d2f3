import type { TimelineEdge } from "@retwis/client";
import { Link } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { useViewer } from "../session/useSession.ts";
import { ReasonLine, reasonLinkClass } from "./PostLayout.tsx";

export interface RepostReasonProps {
  id: string;
  repost: NonNullable<TimelineEdge["reason"]>;
}

/** Says whose repost shows a post. */
export function RepostReason({ id, repost: { user, createdAt } }: RepostReasonProps) {
  const { t, format } = useI18n();
  const viewer = useViewer();
  const link = (name: string) => (
    <Link key="user" to={`/u/${user.username}`} className={reasonLinkClass}>
      <bdi>{name}</bdi>
    </Link>
  );
  return (
    <ReasonLine id={id} title={format.exact(new Date(createdAt))}>
      {viewer?.user.id === user.id ? link(t.reposts.byYou) : t.reposts.by(link(user.displayName))}
    </ReasonLine>
  );
}
