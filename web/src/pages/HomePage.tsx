import { useQuery } from "@apollo/client/react";
import { Link } from "react-router";
import { HomePageDocument } from "../api/generated.ts";
import { Composer, ComposerSpace } from "../posts/Composer.tsx";
import { useViewer } from "../session/useSession.ts";
import { Feed, scrollToTop } from "../timeline/Feed.tsx";
import { PageTitle, Problem, Skeleton } from "../ui/states.tsx";
import { WelcomePage } from "./WelcomePage.tsx";

/** The page at /: one's own timeline, or the welcome for who is not logged in. */
export function HomePage() {
  const viewer = useViewer();
  const { data, error, refetch } = useQuery(HomePageDocument);
  if (viewer === null || data?.viewer === null) return <WelcomePage />;
  return (
    <>
      <PageTitle>Home</PageTitle>
      {viewer ? <Composer viewer={viewer} onSent={scrollToTop} /> : <ComposerSpace />}
      {data?.viewer ? (
        <Feed
          timeline={data.viewer.homeTimeline}
          label="Home timeline"
          empty={
            <>
              <p>Nothing here yet. What you and the people you follow post is shown here.</p>
              <p>
                <Link to="/public" className="font-medium text-accent underline">
                  See what everybody writes
                </Link>
              </p>
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
