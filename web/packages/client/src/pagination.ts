import type { Reference } from "@apollo/client";

/** A connection as the cache stores it. */
export interface StoredConnection {
  edges: readonly StoredEdge[];
  pageInfo: StoredPageInfo;
}

export interface StoredEdge {
  cursor: string;
  node: Reference;
  /** The identity of an edge of a timeline, which may have several edges of one node. */
  entryId?: string;
}

export interface StoredPageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
}

/**
 * Merges pages of a connection into one list: a page `after` the end of the list is
 * appended, a page `before` its start is prepended, and a page without either replaces the
 * list. A page that meets neither end belongs to an earlier list and is dropped.
 *
 * It is the `merge` of a field policy whose `keyArgs` is false.
 */
export function mergePages<T extends StoredConnection>(
  existing: T | undefined,
  incoming: T,
  args: Record<string, unknown> | null,
): T {
  const after = args?.["after"] ?? null;
  const before = args?.["before"] ?? null;
  if (after === null && before === null) return incoming;
  if (existing === undefined) return incoming;
  const known = new Set(existing.edges.map(identityOf));
  const fresh = incoming.edges.filter((edge) => !known.has(identityOf(edge)));
  if (after !== null && after === existing.pageInfo.endCursor) {
    return {
      ...existing,
      edges: [...existing.edges, ...fresh],
      pageInfo: {
        ...existing.pageInfo,
        hasNextPage: incoming.pageInfo.hasNextPage,
        endCursor: incoming.pageInfo.endCursor ?? existing.pageInfo.endCursor,
      },
    };
  }
  if (before !== null && before === existing.pageInfo.startCursor) {
    return {
      ...existing,
      edges: [...fresh, ...existing.edges],
      pageInfo: {
        ...existing.pageInfo,
        hasPreviousPage: incoming.pageInfo.hasPreviousPage,
        startCursor: incoming.pageInfo.startCursor ?? existing.pageInfo.startCursor,
      },
    };
  }
  return existing;
}

function identityOf({ entryId, node }: StoredEdge): string {
  return entryId ?? node.__ref;
}
