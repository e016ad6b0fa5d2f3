import { useQuery } from "@apollo/client/react";
import type { ReactNode } from "react";
import { SettingsPageDocument } from "../api/generated.ts";
import { PlaygroundLink } from "../app/PlaygroundLink.tsx";
import { WelcomePage } from "../pages/WelcomePage.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { DeleteAccount } from "./DeleteAccount.tsx";
import { PasswordForm } from "./PasswordForm.tsx";
import { ProfileForm } from "./ProfileForm.tsx";
import { Sessions } from "./Sessions.tsx";

/** What one can change about oneself. */
export function SettingsPage() {
  const { data, error, refetch } = useQuery(SettingsPageDocument);
  if (data?.viewer === null) return <WelcomePage />;
  return (
    <>
      <PageTitle>Settings</PageTitle>
      {data?.viewer ? (
        <>
          <Part title="Profile">
            <ProfileForm user={data.viewer.user} />
          </Part>
          <Part title="Password">
            <PasswordForm username={data.viewer.user.username} />
          </Part>
          <Part title="Sessions">
            <Sessions />
          </Part>
          <Part title="Account">
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
