import { useI18n } from "../i18n/I18n.tsx";
import { Frame, mainClass } from "../ui/Frame.tsx";
import { FindIcon, HomeIcon, PeopleIcon } from "../ui/icons.tsx";
import { navigationBar, navigationItem } from "../ui/navigationItem.ts";
import { ThemeButton } from "../ui/ThemeButton.tsx";
import WelcomePage, { type WelcomePageProps } from "./WelcomePage.tsx";

/** The document for visitors: the welcome page in its frame, with links to the app. */
export function Welcome(props: WelcomePageProps) {
  const { t } = useI18n();
  return (
    <Frame
      brand={(link) => <a href="/" {...link} />}
      navigation={
        <nav aria-label={t.nav.main} className={navigationBar}>
          <a href="/" aria-current="page" className={navigationItem}>
            <HomeIcon />
            {t.nav.welcome}
          </a>
          <a href="/public" className={navigationItem}>
            <PeopleIcon />
            {t.nav.everyone}
          </a>
          <a href="/find" className={navigationItem}>
            <FindIcon />
            {t.nav.find}
          </a>
        </nav>
      }
      controls={<ThemeButton />}
    >
      <main id="main" tabIndex={-1} className={mainClass}>
        <WelcomePage {...props} />
      </main>
      <div className="hidden w-72 shrink-0 lg:block" />
    </Frame>
  );
}
