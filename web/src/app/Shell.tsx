import { Suspense, useCallback, useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useI18n } from "../i18n/I18n.tsx";
import { askedDeletion, watchDeletion } from "../posts/deletion.ts";
import { navigate } from "../router/visit.ts";
import { noteViewer } from "../session/expectation.ts";
import { useViewer } from "../session/useSession.ts";
import { Frame, mainClass } from "../ui/Frame.tsx";
import { lazily } from "../ui/lazily.ts";
import { Skeleton } from "../ui/states.tsx";
import { ThemeButton } from "../ui/ThemeButton.tsx";
import { TitleProvider } from "../ui/Title.tsx";
import { ConnectionBadge, ConnectionBanner } from "./ConnectionBadge.tsx";
import { Navigation, SettingsLink } from "./Navigation.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { useScroll } from "./useScroll.ts";

const loadFindDialog = async () => (await import("./FindDialog.tsx")).default;
const loadHelpDialog = async () => (await import("./HelpDialog.tsx")).default;
const WriteButton = lazily(async () => (await import("./WriteButton.tsx")).WriteButton);
const NewestUsers = lazily(async () => (await import("../people/NewestUsers.tsx")).NewestUsers);
const FindDialog = lazily(loadFindDialog);
const HelpDialog = lazily(loadHelpDialog);
const DeletePostDialog = lazily(async () => (await import("../posts/DeletePostDialog.tsx")).DeletePostDialog);

/** After this time the parts that are often needed next are loaded, so that they show at once, in milliseconds. */
const preloadDelay = 3_000;

/** The frame around every page. */
export function Shell({ children }: { children: ReactNode }) {
  const { t } = useI18n();
  const viewer = useViewer();
  const [chosen, setDialog] = useState<"find" | "help" | undefined>();
  const deletion = useSyncExternalStore(watchDeletion, askedDeletion, askedDeletion);
  const dialog = deletion ? "delete" : chosen;
  // A closed dialog stays, so that the browser restores the focus.
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  if (dialog && !opened.has(dialog)) setOpened(new Set([...opened, dialog]));
  useEffect(() => {
    if (viewer !== undefined) noteViewer(viewer?.id ?? null);
  }, [viewer]);
  useEffect(() => {
    const preload = () =>
      void Promise.allSettled([
        loadFindDialog(),
        loadHelpDialog(),
        import("../pages/ProfilePage.tsx"),
        import("../pages/PostPage.tsx"),
        import("../posts/RepostMenu.tsx"),
      ]);
    const timer = setTimeout(preload, preloadDelay);
    return () => clearTimeout(timer);
  }, []);
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
      } else navigate("/", { state: { compose: true } });
    },
  });
  return (
    <TitleProvider>
      <Frame
        brand={(props) => <Link to="/" {...props} />}
        navigation={<Navigation viewer={viewer} onFind={() => setDialog("find")} />}
        controls={
          <>
            <ConnectionBadge />
            <button
              type="button"
              className="-ml-1 hidden rounded-md px-1 py-1 text-left text-sm whitespace-nowrap text-soft hover:text-ink sm:block"
              onClick={() => setDialog("help")}
            >
              {t.nav.shortcuts}
            </button>
            <ThemeButton />
            {viewer && <SettingsLink />}
          </>
        }
      >
        <Main>
          {children}
          <Suspense>{viewer && <WriteButton />}</Suspense>
        </Main>
        <Suspense fallback={<div className="hidden w-72 shrink-0 lg:block" />}>
          <NewestUsers />
        </Suspense>
        <ConnectionBanner />
        <Suspense>
          {opened.has("delete") && <DeletePostDialog deletion={deletion} />}
          {opened.has("find") && <FindDialog open={dialog === "find"} onClose={close} />}
          {opened.has("help") && <HelpDialog open={dialog === "help"} onClose={close} loggedIn={Boolean(viewer)} />}
        </Suspense>
      </Frame>
    </TitleProvider>
  );
}

function Main({ children }: { children: ReactNode }) {
  const [pathname] = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    // Screen readers and the keyboard continue at the start of a new page.
    if (shown.current === pathname) return;
    shown.current = pathname;
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    <main id="main" ref={main} tabIndex={-1} className={mainClass}>
      <Suspense fallback={<Skeleton />}>
        {children}
      </Suspense>
    </main>
  );
}
