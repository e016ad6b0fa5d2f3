import { useRef, useState } from "react";
import type { PageState } from "../timeline/MoreBelow.tsx";

/** Loads pages one at a time, and remembers what went wrong with the last. */
export function usePaging(read: () => Promise<unknown>): Omit<PageState, "more"> {
  const [state, setState] = useState<{ loading: boolean; error: unknown }>({ loading: false, error: undefined });
  const busy = useRef(false);
  const load = async () => {
    if (busy.current) return;
    busy.current = true;
    setState({ loading: true, error: undefined });
    try {
      await read();
      setState({ loading: false, error: undefined });
    } catch (error) {
      setState({ loading: false, error });
    } finally {
      busy.current = false;
    }
  };
  return { ...state, load };
}

interface Result {
  error?: unknown;
  refetch: () => Promise<unknown>;
  fetchMore: (options: { variables: { after: string | null } }) => Promise<unknown>;
}

interface Connection {
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** How to read on in a query for a connection, once that is there. What is known may also fail to be read anew. */
export function useNextPage({ error, refetch, fetchMore }: Result, connection: Connection | undefined): PageState {
  const { hasNextPage = false, endCursor = null } = connection?.pageInfo ?? {};
  const paging = usePaging(async () => {
    if (error) await refetch();
    else if (hasNextPage) await fetchMore({ variables: { after: endCursor } });
  });
  return { ...paging, error: paging.error ?? error, more: hasNextPage };
}
