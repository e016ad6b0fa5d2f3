import { useQuery } from "@apollo/client/react";
import { Suspense } from "react";
import { Link } from "wouter";
import { HomePageDocument } from "./Home.documents.ts";
import { useServices } from "../app/services.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { Composer } from "../posts/Composer.tsx";
import { ComposerSpace } from "../posts/ComposerSpace.tsx";
import { useViewer } from "../session/useSession.ts";
import { Feed } from "../timeline/Feed.tsx";
import { lazily } from "../ui/lazily.ts";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";

const SuggestedPeople = lazily(async () => (await import("../people/NewestUsers.tsx")).SuggestedPeople);
const WelcomePage = lazily(async () => (await import("../welcome/WelcomePage.tsx")).default);

/** The page at /: the viewer's home timeline, or the welcome page for visitors. */
export function HomePage() {
  const { t } = useI18n();
  const { session } = useServices();
  const viewer = useViewer();
  const { data, error, refetch } = useQuery(HomePageDocument);
  if (viewer === null || data?.viewer === null) {
    return (
      <Suspense fallback={<Skeleton />}>
        <WelcomePage onLoggedIn={() => session.changed()} />
      </Suspense>
    );
  }
  return (
    <>
      <PageTitle>{t.home.title}</PageTitle>
      {viewer ? <Composer viewer={viewer} /> : <ComposerSpace />}
      {data?.viewer ? (
        <Feed
          timelineId={data.viewer.homeTimeline.id}
          label={t.home.timeline}
          empty={
            <>
              <p>{t.home.empty}</p>
              <p>
                <Link to="/public" className="font-medium text-accent underline">
                  {t.home.everyone}
                </Link>
              </p>
              <Suspense>
                <SuggestedPeople />
              </Suspense>
            </>
          }
        />
      ) : error ? (
        <Problem error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}
