import { Suspense } from "react";
import { useServices } from "../app/services.ts";
import { lazily } from "../ui/lazily.ts";
import { PageTitle, Skeleton } from "../ui/states.tsx";

const CredentialsCard = lazily(async () => (await import("../welcome/CredentialsCard.tsx")).default);

/** Asks visitors to log in before they see a page. */
export function LoginRequired({ title, text }: { title: string; text: string }) {
  const { session } = useServices();
  return (
    <>
      <PageTitle>{title}</PageTitle>
      <div className="px-4 pb-12 sm:px-6">
        <p className="mb-5 text-soft">{text}</p>
        <Suspense fallback={<Skeleton rows={2} />}>
          <CredentialsCard onLoggedIn={() => session.changed()} />
        </Suspense>
      </div>
    </>
  );
}
