import { useRepostPost } from "@retwis/client/repost";
import { useI18n } from "../i18n/I18n.tsx";
import { QuoteIcon, RepostIcon } from "../ui/icons.tsx";
import { Menu } from "../ui/Menu.tsx";
import type { MenuAnchor } from "../ui/MenuButton.tsx";
import type { Attempt } from "../ui/useAttempt.ts";
import { composeQuote } from "./answer.ts";

export interface RepostMenuProps extends MenuAnchor {
  postId: string;
  userId: string;
  reposted: boolean;
  attempt: Attempt["attempt"];
  onUndone: (() => void) | undefined;
}

/** The menu to repost a post, to undo that, or to quote the post. */
export default function RepostMenu({ postId, userId, reposted, attempt, onUndone, ...anchor }: RepostMenuProps) {
  const { t } = useI18n();
  const change = useRepostPost();
  return (
    <Menu
      {...anchor}
      label={t.reposts.menu}
      items={[
        {
          label: reposted ? t.reposts.undo : t.reposts.repost,
          icon: <RepostIcon />,
          onChoose: () => void attempt(() => change(postId, !reposted, onUndone)),
        },
        { label: t.quotes.quote, icon: <QuoteIcon />, onChoose: () => composeQuote(userId, postId) },
      ]}
    />
  );
}
