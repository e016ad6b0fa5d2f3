import type { FragmentType } from "@apollo/client";
import { useFragment, useMutation } from "@apollo/client/react";
import type { ProfileMenu_UserFragment } from "../api/generated.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { MoreIcon, RepostIcon } from "../ui/icons.tsx";
import { Menu } from "../ui/Menu.tsx";
import { MenuButton } from "../ui/MenuButton.tsx";
import { useAttempt } from "../ui/useAttempt.ts";
import { ProfileMenu_UserFragmentDoc, ShowRepostsDocument } from "./ProfileMenu.documents.ts";

/** Opens a menu to hide a user's reposts from the home, or to show them again. Absent for users whom the viewer does not follow. */
export function ProfileMenu({ user }: { user: FragmentType<ProfileMenu_UserFragment> }) {
  const { t } = useI18n();
  const { data, complete } = useFragment({ fragment: ProfileMenu_UserFragmentDoc, fragmentName: "ProfileMenu_user", from: user });
  const [change] = useMutation(ShowRepostsDocument);
  const { problem, attempt } = useAttempt();
  if (!complete || !data.viewerFollows) return null;
  const { id, displayName, viewerHidesReposts: hidden } = data;
  const label = t.follow.options(displayName);
  const toggle = async () => (await change({ variables: { userId: id, showReposts: hidden } })).data?.followUser?.userErrors ?? [];
  const item = { label: hidden ? t.follow.showReposts : t.follow.hideReposts, icon: <RepostIcon />, onChoose: () => void attempt(toggle) };
  return (
    <>
      {problem && (
        <p role="alert" className="max-w-48 self-center text-sm text-warn">
          {problem}
        </p>
      )}
      <MenuButton
        aria-label={label}
        data-hides-reposts={hidden}
        className="flex size-10 shrink-0 items-center justify-center rounded-full border border-line text-soft hover:bg-wash hover:text-ink"
        menu={(anchor) => <Menu {...anchor} label={label} items={[item]} />}
      >
        <MoreIcon />
      </MenuButton>
    </>
  );
}
