import { Fragment, useState } from "react";
import { describeError } from "../api/errors.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Button } from "../ui/Button.tsx";
import { useDemoAccounts, type DemoAccount } from "../ui/hints.ts";
import { PlaygroundLink } from "../ui/PlaygroundLink.tsx";
import CredentialsCard, { logIn } from "./CredentialsCard.tsx";

export interface WelcomePageProps {
  /** Called after a login or a registration. */
  onLoggedIn: () => Promise<void>;
}

/** The page at / for visitors. It needs neither the router nor Apollo Client. */
export default function WelcomePage({ onLoggedIn }: WelcomePageProps) {
  const { t } = useI18n();
  return (
    <div className="px-4 pt-8 pb-12 sm:px-10 sm:pt-16">
      <title>{t.welcome.title}</title>
      <h1 className="max-w-md font-serif text-4xl leading-tight font-semibold tracking-tight sm:text-5xl">{t.welcome.heading}</h1>
      <p className="mt-4 mb-8 max-w-md text-lg text-soft">
        {t.welcome
          .intro((text) => (
            <a href="/public" className="text-accent underline">
              {text}
            </a>
          ))
          .map((part, i) => (
            <Fragment key={i}>{part}</Fragment>
          ))}
      </p>
      <CredentialsCard onLoggedIn={onLoggedIn} />
      <Demo onLoggedIn={onLoggedIn} />
      <p className="mt-6 text-sm empty:hidden">
        <PlaygroundLink />
      </p>
    </div>
  );
}

/** In a demo, buttons to log in as some of its people. */
function Demo({ onLoggedIn }: WelcomePageProps) {
  const i18n = useI18n();
  const { t } = i18n;
  const accounts = useDemoAccounts();
  const [state, setState] = useState<{ busy: boolean; problem?: string }>({ busy: false });
  if (accounts.length === 0) return null;
  const enter = async ({ username, password }: DemoAccount) => {
    setState({ busy: true });
    try {
      const [failure] = await logIn(username, password);
      if (failure) setState({ busy: false, problem: failure.message });
      else await onLoggedIn();
    } catch (error) {
      setState({ busy: false, problem: describeError(error, i18n) });
    }
  };
  return (
    <section className="mt-6 max-w-md">
      <p className="mb-3 text-soft">{t.welcome.demo}</p>
      <ul className="flex flex-wrap gap-2">
        {accounts.map((account) => (
          <li key={account.username}>
            <Button kind="quiet" busy={state.busy} onClick={() => void enter(account)}>
              {t.welcome.demoLogIn(account.displayName)}
            </Button>
          </li>
        ))}
      </ul>
      {state.problem && (
        <p role="alert" className="mt-3 text-sm text-warn">
          {state.problem}
        </p>
      )}
    </section>
  );
}
