import { useCallback, useEffect, useRef, useState } from "react";
import { Link, Outlet, useLocation, useNavigate } from "react-router";
import { noteViewer } from "../session/expectation.ts";
import { useViewer } from "../session/useSession.ts";
import { ConnectionBadge } from "./ConnectionBadge.tsx";
import { FindDialog } from "./FindDialog.tsx";
import { HelpDialog } from "./HelpDialog.tsx";
import { NewestUsers } from "../people/NewestUsers.tsx";
import { Navigation, SettingsLink } from "./Navigation.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { ThemeButton } from "./ThemeButton.tsx";
import { useScroll } from "./useScroll.ts";

/** What is around every page. */
export function Shell() {
  const viewer = useViewer();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<"find" | "help" | undefined>();
  useEffect(() => {
    if (viewer !== undefined) noteViewer(viewer !== null);
  }, [viewer]);
  const close = useCallback(() => setDialog(undefined), []);
  useScroll();
  useShortcuts({
    "/": () => setDialog("find"),
    "?": () => setDialog("help"),
    n: () => {
      if (!viewer) return;
      const composer = document.getElementById("composer");
      if (composer) {
        window.scrollTo({ top: 0 });
        composer.focus();
      } else void navigate("/", { state: { compose: true } });
    },
  });
  return (
    <div className="mx-auto flex min-h-dvh max-w-4xl flex-col sm:flex-row lg:max-w-[74rem]">
      <a
        href="#main"
        className="sr-only z-30 rounded-md bg-accent px-4 py-2 text-accent-ink focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-20 flex h-14 items-center gap-3 border-b border-line bg-paper px-4 sm:h-dvh sm:w-56 sm:shrink-0 sm:flex-col sm:items-stretch sm:gap-1 sm:border-r sm:border-b-0 sm:px-4 sm:py-6">
        <Link to="/" className="flex items-center gap-2.5 rounded-lg font-serif text-xl font-semibold tracking-tight sm:mb-5 sm:px-3 sm:text-2xl">
          <img src="/icon.svg" alt="" width="28" height="28" />
          Retwis
        </Link>
        <Navigation viewer={viewer} onFind={() => setDialog("find")} />
        <div className="ml-auto flex items-center sm:mt-auto sm:ml-0 sm:flex-wrap sm:justify-between sm:pl-3">
          <ConnectionBadge />
          <button
            type="button"
            className="-ml-2 hidden rounded-md px-2 py-1 text-sm text-soft hover:text-ink sm:block"
            onClick={() => setDialog("help")}
          >
            Keys
          </button>
          <ThemeButton />
          {viewer && <SettingsLink />}
        </div>
      </header>
      <Main />
      <NewestUsers />
      <FindDialog open={dialog === "find"} onClose={close} />
      <HelpDialog open={dialog === "help"} onClose={close} loggedIn={Boolean(viewer)} />
    </div>
  );
}

function Main() {
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    // Whoever cannot see that the page changed is taken to its start.
    if (shown.current === pathname) return;
    shown.current = pathname;
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    <main id="main" ref={main} tabIndex={-1} className="w-full min-w-0 flex-1 border-line pb-20 outline-none sm:border-r sm:pb-0">
      <Outlet />
    </main>
  );
}
