import { useReposts } from "@retwis/client";
import { useI18n } from "../i18n/I18n.tsx";
import { useViewer } from "../session/useSession.ts";
import { RepostIcon } from "../ui/icons.tsx";
import { lazily } from "../ui/lazily.ts";
import { MenuButton } from "../ui/MenuButton.tsx";
import { useAttempt } from "../ui/useAttempt.ts";
import { ActionCount, ActionProblem } from "./ActionCount.tsx";
import { actionClass } from "./PostLayout.tsx";

const RepostMenu = lazily(async () => (await import("./RepostMenu.tsx")).default);

export interface RepostButtonProps {
  postId: string;
  /** The id of the element with the text of the post. */
  textId: string;
  /** Called before the viewer's repost disappears. */
  onUndone?: (() => void) | undefined;
}

/** Opens a menu to repost or to quote a post, and shows the number of reposts. Visitors see the number alone. */
export function RepostButton({ postId, textId, onUndone }: RepostButtonProps) {
  const { t, format } = useI18n();
  const viewer = useViewer();
  const { repostCount = 0, reposted = false } = useReposts(postId) ?? {};
  const { problem, attempt } = useAttempt();
  if (!viewer) return <ActionCount icon={<RepostIcon />} count={repostCount} label={t.reposts.count} />;
  const count = format.number(repostCount);
  return (
    <>
      <MenuButton
        aria-label={t.reposts.button(reposted, repostCount, count)}
        aria-describedby={textId}
        data-reposted={reposted || undefined}
        className={`${actionClass} data-reposted:text-accent`}
        menu={(anchor) => <RepostMenu {...anchor} postId={postId} userId={viewer.user.id} reposted={reposted} attempt={attempt} onUndone={onUndone} />}
      >
        <RepostIcon strong={reposted} />
        {repostCount > 0 && count}
      </MenuButton>
      <ActionProblem>{problem}</ActionProblem>
    </>
  );
}
