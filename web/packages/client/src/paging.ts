import { useRef, useState } from "react";

/** The state of loading further pages of a list in one direction. */
export interface Paging {
  loading: boolean;
  /** Why the last page could not be loaded. */
  error: unknown;
  /** Whether there is more to load. */
  more: boolean;
  /** Loads the next page, unless one is being loaded. */
  load: () => Promise<void>;
}

/** Loads pages one at a time and keeps the last error. */
export function usePaging(read: () => Promise<unknown>): Omit<Paging, "more"> {
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

/** Reads further pages of a connection in the result of `useQuery`. After a failed query it repeats the query. */
export function useNextPage({ error, refetch, fetchMore }: Result, connection: Connection | undefined): Paging {
  const { hasNextPage = false, endCursor = null } = connection?.pageInfo ?? {};
  const paging = usePaging(async () => {
    if (error) await refetch();
    else if (hasNextPage) await fetchMore({ variables: { after: endCursor } });
  });
  return { ...paging, error: paging.error ?? error, more: hasNextPage };
}
