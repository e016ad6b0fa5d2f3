import type { ApolloCache } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import type { RetwisApolloClient } from "./apolloClient.ts";
import { MarkTimelineReadDocument, TimelineUnreadFragmentDoc } from "./generated.ts";

/** The greatest number of unread posts that the server counts: these, or more. */
export const maxUnread = 99;

/** How far the viewer has read a timeline. */
export interface KnownUnread {
  marker: string | null;
  unreadCount: number;
}

/**
 * Returns how far the viewer has read a timeline, as far as the cache knows: undefined if no query has
 * selected it, and for profiles and the public timeline, which have no marker.
 */
export function useUnread(timelineId: string | undefined): KnownUnread | undefined {
  const { data, complete } = useFragment({
    fragment: TimelineUnreadFragmentDoc,
    from: timelineId === undefined ? null : { __typename: "Timeline", id: timelineId },
  });
  if (!complete || data.unreadCount === null) return undefined;
  return { marker: data.marker, unreadCount: data.unreadCount };
}

/** Returns the marker of a timeline that the server sent last. */
export function knownMarker(cache: ApolloCache, timelineId: string): string | null | undefined {
  const from = { __typename: "Timeline" as const, id: timelineId };
  return cache.readFragment({ fragment: TimelineUnreadFragmentDoc, from })?.marker;
}

/** Adds new posts to the number of unread posts, if the cache knows it. */
export function addUnread(cache: ApolloCache, timelineId: string, added: number): void {
  cache.modify<{ unreadCount: number | null }>({
    id: cache.identify({ __typename: "Timeline", id: timelineId }) ?? "",
    fields: { unreadCount: (count) => (count === null ? null : Math.min(count + added, maxUnread)) },
  });
}

/**
 * Marks a timeline of the viewer as read up to its head, at the given cursor. The number of unread posts is
 * zero at once; a failure restores it and rejects the promise.
 */
export async function markRead(client: RetwisApolloClient, timelineId: string, cursor: string): Promise<void> {
  const { data } = await client.mutate({
    mutation: MarkTimelineReadDocument,
    variables: { input: { timelineId, cursor } },
    optimisticResponse: {
      markTimelineRead: {
        __typename: "MarkTimelineReadPayload",
        timeline: { __typename: "Timeline", id: timelineId, marker: cursor, unreadCount: 0 },
        userErrors: [],
      },
    },
  });
  const [refused] = data?.markTimelineRead?.userErrors ?? [];
  if (refused) throw new Error(refused.message);
}
