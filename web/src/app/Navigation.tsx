import type { ReactNode } from "react";
import { NavLink } from "react-router";
import type { Viewer } from "../session/useSession.ts";
import { expectViewer } from "../session/expectation.ts";
import { AtIcon, FindIcon, GearIcon, HomeIcon, ListIcon, PeopleIcon, PersonIcon } from "../ui/icons.tsx";

const item =
  "flex flex-1 flex-col items-center gap-0.5 rounded-lg px-2 py-1.5 text-xs text-soft hover:text-ink aria-[current=page]:text-accent sm:flex-none sm:flex-row sm:gap-3 sm:px-3 sm:py-2.5 sm:text-base sm:hover:bg-wash sm:aria-[current=page]:bg-wash sm:aria-[current=page]:font-semibold";

/** The main navigation: beside the page, and on phones below it, where its items share the width. */
export function Navigation({ viewer, onFind }: { viewer: Viewer | null | undefined; onFind: () => void }) {
  return (
    <nav
      aria-label="Main"
      className="fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-paper px-2 pt-1 pb-[max(0.25rem,env(safe-area-inset-bottom))] sm:static sm:flex-col sm:gap-1 sm:border-0 sm:p-0"
    >
      <Item to="/" icon={<HomeIcon />}>
        {viewer === null ? "Welcome" : "Home"}
      </Item>
      <Item to="/public" icon={<PeopleIcon />}>
        Everybody
      </Item>
      <button type="button" className={item} onClick={onFind}>
        <FindIcon />
        Find
      </button>
      {viewer === undefined && expectViewer() && (
        <>
          <span className={item} />
          <span className={item} />
          <span className={item} />
          <span className={`${item} max-sm:hidden`} />
        </>
      )}
      {viewer && (
        <>
          <Item to="/mentions" icon={<AtIcon />}>
            Mentions
          </Item>
          <Item to="/lists" icon={<ListIcon />}>
            Lists
          </Item>
          <Item to={`/u/${viewer.user.username}`} icon={<PersonIcon />}>
            Profile
          </Item>
          <Item to="/settings" icon={<GearIcon />} className="max-sm:hidden">
            Settings
          </Item>
        </>
      )}
    </nav>
  );
}

/** The way to the settings on phones, at the top of the page. */
export function SettingsLink() {
  return (
    <NavLink
      to="/settings"
      aria-label="Settings"
      className="flex size-10 shrink-0 items-center justify-center rounded-full text-soft hover:bg-wash hover:text-ink aria-[current=page]:text-accent sm:hidden"
    >
      <GearIcon />
    </NavLink>
  );
}

function Item({ to, icon, children, className = "" }: { to: string; icon: ReactNode; children: ReactNode; className?: string }) {
  return (
    <NavLink to={to} end className={`${item} ${className}`}>
      {icon}
      {children}
    </NavLink>
  );
}
