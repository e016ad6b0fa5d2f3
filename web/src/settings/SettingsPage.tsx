import { useQuery } from "@apollo/client/react";
import type { ReactNode } from "react";
import { SettingsPageDocument } from "./Settings.documents.ts";
import { PlaygroundLink } from "../ui/PlaygroundLink.tsx";
import { useI18n } from "../i18n/I18n.tsx";
import { LoginRequired } from "../session/LoginRequired.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { DeleteAccount } from "./DeleteAccount.tsx";
import { PasswordForm } from "./PasswordForm.tsx";
import { ProfileForm } from "./ProfileForm.tsx";
import { Sessions } from "./Sessions.tsx";

/** The viewer's settings. */
export function SettingsPage() {
  const { t } = useI18n();
  const { data, error, refetch } = useQuery(SettingsPageDocument);
  if (data?.viewer === null) return <LoginRequired title={t.settings.title} text={t.welcome.toSee.settings} />;
  return (
    <>
      <PageTitle>{t.settings.title}</PageTitle>
      {data?.viewer ? (
        <>
          <Part title={t.settings.profile}>
            <ProfileForm user={data.viewer.user} />
          </Part>
          <Part title={t.settings.password}>
            <PasswordForm username={data.viewer.user.username} />
          </Part>
          <Part title={t.settings.sessions}>
            <Sessions />
          </Part>
          <Part title={t.settings.account}>
            <DeleteAccount username={data.viewer.user.username} />
          </Part>
          <p className="border-t border-line px-4 py-6 empty:hidden sm:px-6">
            <PlaygroundLink />
          </p>
        </>
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton rows={3} />
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-t border-line px-4 py-6 sm:px-6">
      <h2 className="mb-4 text-lg font-semibold">{title}</h2>
      <div className="max-w-md">{children}</div>
    </section>
  );
}
