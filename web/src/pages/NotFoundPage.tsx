import { Link } from "react-router";
import { PageTitle } from "../ui/states.tsx";

/** Says that there is nothing at this address. */
export function NotFoundPage({ what = "There is nothing at this address." }: { what?: string }) {
  return (
    <>
      <PageTitle>Not found</PageTitle>
      <p className="px-4 sm:px-6">{what}</p>
      <p className="px-4 pt-4 sm:px-6">
        <Link to="/" className="font-medium text-accent underline">
          Go to the start
        </Link>
      </p>
    </>
  );
}
