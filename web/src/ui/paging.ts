import { NetworkStatus } from "@apollo/client";
import type { PageState } from "../timeline/MoreBelow.tsx";

interface Pages {
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

interface Result {
  error?: unknown;
  networkStatus: NetworkStatus;
  fetchMore: (options: { variables: { after: string | null } }) => Promise<unknown>;
}

/** The state of a query that reads a connection page by page, and how to read on. */
export function pageState({ error, networkStatus, fetchMore }: Result, { pageInfo }: Pages): PageState {
  const loading = networkStatus === NetworkStatus.fetchMore;
  const load = async () => {
    if (!loading && pageInfo.hasNextPage) await fetchMore({ variables: { after: pageInfo.endCursor } }).catch(() => undefined);
  };
  return { loading, error, more: pageInfo.hasNextPage, load };
}
