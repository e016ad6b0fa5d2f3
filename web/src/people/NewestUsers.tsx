import { useQuery } from "@apollo/client/react";
import { useSyncExternalStore } from "react";
import { Link } from "react-router";
import { NewestUsersDocument } from "../api/generated.ts";
import { Avatar } from "./Avatar.tsx";

const wide = matchMedia("(width >= 64rem)");
const again = 60_000; // ms

/** Those who joined last, beside the page where there is room. Elsewhere they have a page. */
export function NewestUsers() {
  const fits = useSyncExternalStore(watchWidth, () => wide.matches);
  const { data } = useQuery(NewestUsersDocument, { skip: !fits, pollInterval: again, skipPollAttempt: () => document.hidden });
  const people = data?.newestUsers?.edges ?? [];
  return (
    <aside aria-label="New people" className="sticky top-0 hidden h-dvh w-64 shrink-0 overflow-y-auto px-5 py-6 lg:block xl:w-72">
      {people.length > 0 && (
        <>
          <h2 className="mb-3 font-serif text-lg font-semibold">New here</h2>
          <ul>
            {people.map(({ node }) => (
              <li key={node.id}>
                <Link to={`/u/${node.username}`} className="flex items-center gap-3 rounded-lg px-2 py-2 hover:bg-wash">
                  <Avatar {...node} />
                  <span className="min-w-0">
                    <bdi className="block truncate font-semibold">{node.displayName}</bdi>
                    <span className="block truncate text-sm text-soft">@{node.username}</span>
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          <Link to="/public/people" className="mt-3 inline-block px-2 text-sm font-medium text-accent underline">
            All new people
          </Link>
        </>
      )}
    </aside>
  );
}

function watchWidth(listener: () => void): () => void {
  wide.addEventListener("change", listener);
  return () => wide.removeEventListener("change", listener);
}
