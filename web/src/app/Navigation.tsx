import { Suspense, type ReactNode } from "react";
import { useI18n } from "../i18n/I18n.tsx";
import { NavLink } from "../router/NavLink.tsx";
import type { Viewer } from "../session/useSession.ts";
import { expectViewer } from "../session/expectation.ts";
import { AtIcon, FindIcon, GearIcon, HomeIcon, ListIcon, PeopleIcon, PersonIcon } from "../ui/icons.tsx";
import { lazily } from "../ui/lazily.ts";
import { navigationBar, navigationItem } from "../ui/navigationItem.ts";

const UnreadUpdates = lazily(async () => (await import("./Unread.tsx")).UnreadUpdates);
const UnreadIn = lazily(async () => (await import("./Unread.tsx")).UnreadIn);
const UnreadInLists = lazily(async () => (await import("./Unread.tsx")).UnreadInLists);

/** The main navigation. */
export function Navigation({ viewer, onFind }: { viewer: Viewer | null | undefined; onFind: () => void }) {
  const { t } = useI18n();
  return (
    <nav aria-label={t.nav.main} className={navigationBar}>
      <Item to="/" icon={<HomeIcon />} badge={viewer && <UnreadIn timelineIds={[viewer.homeTimeline.id]} />}>
        {viewer === null ? t.nav.welcome : t.nav.home}
      </Item>
      <Item to="/public" icon={<PeopleIcon />}>
        {t.nav.everyone}
      </Item>
      <button type="button" className={navigationItem} onClick={onFind}>
        <FindIcon />
        {t.nav.find}
      </button>
      {viewer === undefined && expectViewer() && (
        <>
          <span className={navigationItem} />
          <span className={navigationItem} />
          <span className={navigationItem} />
          <span className={`${navigationItem} max-sm:hidden`} />
        </>
      )}
      {viewer && (
        <>
          <Item to="/mentions" icon={<AtIcon />} badge={<UnreadIn timelineIds={[viewer.mentionsTimeline.id]} />}>
            {t.nav.mentions}
          </Item>
          <Item to="/lists" icon={<ListIcon />} badge={<UnreadInLists />}>
            {t.nav.lists}
          </Item>
          <Item to={`/u/${viewer.user.username}`} icon={<PersonIcon />}>
            {t.nav.profile}
          </Item>
          <Item to="/settings" icon={<GearIcon />} className="max-sm:hidden">
            {t.nav.settings}
          </Item>
          <Suspense>
            <UnreadUpdates viewer={viewer} />
          </Suspense>
        </>
      )}
    </nav>
  );
}

/** The link to the settings on phones, at the top of the page. */
export function SettingsLink() {
  const { t } = useI18n();
  return (
    <NavLink
      to="/settings"
      aria-label={t.nav.settings}
      className="flex size-10 shrink-0 items-center justify-center rounded-full text-soft hover:bg-wash hover:text-ink aria-[current=page]:text-accent sm:hidden"
    >
      <GearIcon />
    </NavLink>
  );
}

interface ItemProps {
  to: string;
  icon: ReactNode;
  children: ReactNode;
  badge?: ReactNode;
  className?: string;
}

function Item({ to, icon, children, badge, className = "" }: ItemProps) {
  return (
    <NavLink to={to} className={`${navigationItem} ${className}`}>
      {icon}
      {children}
      <Suspense>{badge}</Suspense>
    </NavLink>
  );
}
