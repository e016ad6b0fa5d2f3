import { useFragment, useQuery } from "@apollo/client/react";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { renumber, startIndex, type Numbered } from "./firstIndex.ts";
import {
  ProfileTimelineDocument,
  PublicTimelineDocument,
  TagTimelineDocument,
  ViewerTimelinesDocument,
  type TimelineWindowFragment,
} from "./generated.ts";
import type { LiveTimeline } from "./liveTimeline.ts";
import { usePaging, type Paging } from "./paging.ts";
import { entryAttribute, usePlace, useReturn, type ListHandle, type ShownPlace } from "./place.ts";
import type { Place } from "./places.ts";
import { useRetwis } from "./retwis.ts";

/** Which timeline: one of the viewer's, the public one, that of a user or of a hashtag, or any by its id. */
export type TimelineSource = "home" | "mentions" | "public" | { username: string; includeReplies?: boolean } | { tag: string } | { timelineId: string };

/** An entry of a timeline: a post, or a repost of one. */
export type TimelineEdge = TimelineWindowFragment["posts"]["edges"][number];

export interface TimelineOptions {
  /** Identifies the visit, like the key of a router's location. The reader's place is stored for each visit. */
  visit?: string;
  /** Whether the visit is a return, by Back or a reload, which restores the place. True if it is left out. */
  returning?: boolean;
  /** Scrolls a virtual list to a post. Other lists leave it out. */
  scrollToIndex?: (index: number) => void;
  /** Returns how many pixels of the top of the screen are covered. */
  topInset?: () => number;
}

export interface Timeline {
  /** The timeline's id; undefined while it is not known. */
  id: string | undefined;
  /**
   * loading: nothing is known yet. ready: there is a list. failed: nothing could be read; see
   * `error` and `retry`. missing: there is no such timeline for this viewer.
   */
  status: "loading" | "ready" | "failed" | "missing";
  error: unknown;
  retry: () => void;
  /** The posts and reposts to show, newest first. One post may be there several times: `entryId` identifies an edge. */
  edges: readonly TimelineEdge[];
  /** Pages of older posts, below the list. */
  older: Paging;
  /** Pages of newer posts, above a list that does not begin at the head. */
  newer: Paging;
  /** Posts that have arrived and are not shown yet. */
  newPosts: {
    count: number;
    /** There are more of them than `count`. */
    more: boolean;
    /** Shows them and scrolls to the top. */
    show: () => Promise<void>;
  };
  /** Every event up to now has been received. */
  live: boolean;
  /** The number of the first post, for a virtual list: a post keeps its number while others come and go above it. */
  firstIndex: number;
  /** Where a virtual list begins: a post of `edges` and its distance from the top of the screen. */
  restored: { index: number; top: number } | undefined;
  /** Returns the id of the first entry in view. */
  entryInView: () => string | undefined;
  /** The attributes that the element of an entry needs. */
  entryProps: (entryId: string) => Record<typeof entryAttribute, string>;
}

/**
 * Reads a timeline, keeps it live, and keeps the reader's place in it:
 *
 * - It reads the first page, and further pages in both directions.
 * - It follows the events and resumes after a lost connection. New posts by others are
 *   counted in `newPosts`; posts created in this tab are shown at once.
 * - Deleted posts disappear, also from pages that were on their way.
 * - When the history changes, it reads the posts around the reader's place again.
 * - A return restores the place and the focus. A new visit begins at the head.
 */
export function useTimeline(source: TimelineSource, options: TimelineOptions = {}): Timeline {
  const retwis = useRetwis();
  const found = useTimelineId(source);
  const timelineId = found.id ?? "";
  const live = useMemo(() => (found.id === undefined ? undefined : retwis.timelines.get(found.id)), [retwis, found.id]);
  const view = useSyncExternalStore(live?.subscribe ?? subscribeNever, () => live?.getView());
  const { data, complete } = useFragment({
    fragment: retwis.documents.window,
    fragmentName: "TimelineWindow",
    from: { __typename: "Timeline", id: timelineId },
  });
  const posts = complete ? data.posts : undefined;
  const edges = posts?.edges;
  const hidden = view?.hidden;
  const shown = useMemo(() => edges?.filter((edge) => !hidden?.has(edge.entryId)) ?? [], [edges, hidden]);

  const { visit = "", returning = true } = options;
  const handle = useListHandle(shown, options);
  const place = usePlace(retwis.places, `${timelineId} ${visit}`, returning, handle);
  const first = useFirstPage(live, place.restored, returning, posts);
  const ready = posts !== undefined && !first.reading;
  const focused = useMemo(
    () => (returning ? retwis.places.focusedEntry(`${timelineId} ${visit}`) : undefined),
    [retwis, timelineId, visit, returning],
  );
  useReturn(place.restored, focused, ready, handle);
  const atHead = posts?.pageInfo.hasPreviousPage === false;
  const firstIndex = useFirstIndex(shown, atHead, place.current);
  useEvents(live, ready, shown, place);

  const showNewPosts = useCallback(async () => {
    await live?.showNewPosts();
    scrollToTop();
  }, [live]);
  useNewVisit(visit, returning, showNewPosts);

  const older = usePaging(async () => {
    const { hasNextPage, endCursor } = posts?.pageInfo ?? {};
    if (hasNextPage && endCursor) await live?.window.readPage({ after: endCursor });
  });
  const newer = usePaging(async () => {
    const { hasPreviousPage, startCursor } = posts?.pageInfo ?? {};
    if (hasPreviousPage && startCursor) await live?.window.readPage({ before: startCursor });
  });

  const begin = useRef<Timeline["restored"]>(undefined);
  if (ready && place.restored && begin.current === undefined) {
    const index = shown.findIndex((edge) => edge.entryId === place.restored?.entryId);
    if (index >= 0) begin.current = { index, top: place.restored.top };
  }
  const error = found.error ?? (ready ? undefined : first.error);
  return {
    id: found.id,
    status: found.missing ? "missing" : ready ? "ready" : error ? "failed" : "loading",
    error,
    retry: found.error ? found.retry : first.retry,
    edges: shown,
    older: { ...older, more: posts?.pageInfo.hasNextPage ?? false },
    newer: { ...newer, more: posts?.pageInfo.hasPreviousPage ?? false },
    newPosts: { count: (edges?.length ?? 0) - shown.length, more: (view?.beyond ?? false) && !atHead, show: showNewPosts },
    live: view?.current ?? false,
    firstIndex,
    restored: begin.current,
    entryInView: () => place.current()?.entryId,
    entryProps: (entryId) => ({ [entryAttribute]: entryId }),
  };
}

/** Scrolls to the head of a list, after the list has rendered what is new there. */
export function scrollToTop(): void {
  requestAnimationFrame(() => requestAnimationFrame(() => window.scrollTo({ top: 0 })));
}

const subscribeNever = () => () => {};

interface Found {
  id: string | undefined;
  missing: boolean;
  error: unknown;
  retry: () => void;
}

/** Finds the id of a timeline. */
function useTimelineId(source: TimelineSource): Found {
  const known = typeof source === "object" && "timelineId" in source ? source.timelineId : undefined;
  const profile = typeof source === "object" && "username" in source ? source : undefined;
  const username = profile?.username;
  const tag = typeof source === "object" && "tag" in source ? source.tag : undefined;
  const ofViewer = source === "home" || source === "mentions";
  const viewer = useQuery(ViewerTimelinesDocument, { skip: !ofViewer });
  const everybody = useQuery(PublicTimelineDocument, { skip: source !== "public" });
  const user = useQuery(ProfileTimelineDocument, { skip: username === undefined, variables: { username: username ?? "", includeReplies: profile?.includeReplies ?? false } });
  const hashtag = useQuery(TagTimelineDocument, { skip: tag === undefined, variables: { name: tag ?? "" } });
  if (known !== undefined) return { id: known, missing: false, error: undefined, retry: () => {} };
  const { homeTimeline, mentionsTimeline } = viewer.data?.viewer ?? {};
  const [query, id] = ofViewer
    ? [viewer, source === "home" ? homeTimeline?.id : mentionsTimeline?.id]
    : username !== undefined
      ? [user, user.data?.user?.timeline.id]
      : tag !== undefined
        ? [hashtag, hashtag.data?.tag?.timeline.id]
        : [everybody, everybody.data?.publicTimeline?.id];
  return { id, missing: query.data !== undefined && id === undefined, error: query.error, retry: () => void query.refetch() };
}

/** Follows the events once there is a window that they continue. */
function useEvents(live: LiveTimeline | undefined, ready: boolean, shown: readonly TimelineEdge[], place: ShownPlace): void {
  const shownNow = useRef(shown);
  useEffect(() => {
    shownNow.current = shown;
  }, [shown]);
  useEffect(() => {
    if (!ready) return;
    return live?.follow({
      cursorInView: () => {
        const id = place.current()?.entryId;
        return (shownNow.current.find((edge) => edge.entryId === id) ?? shownNow.current[0])?.cursor;
      },
    });
  }, [live, ready, place]);
}

/** Gives the place access to the list as it is shown now. */
function useListHandle(shown: readonly TimelineEdge[], options: TimelineOptions) {
  const handle = useRef<ListHandle>({ seek: () => {}, cursorOf: () => undefined, topInset: () => 0 });
  useEffect(() => {
    handle.current = {
      seek: (entryId) => {
        const index = shown.findIndex((edge) => edge.entryId === entryId);
        if (index >= 0) options.scrollToIndex?.(index);
      },
      cursorOf: (entryId) => shown.find((edge) => edge.entryId === entryId)?.cursor || undefined,
      topInset: () => options.topInset?.() ?? 0,
    };
  }, [shown, options]);
  return handle;
}

/**
 * Reads the first window, if the cached one does not do: for a return, the posts around the
 * place; for a new visit, the head. If that fails, a cached window is shown.
 */
function useFirstPage(live: LiveTimeline | undefined, place: Place | undefined, returning: boolean, posts: Posts | undefined) {
  const cursor = place?.cursor;
  const holdsPlace = posts?.edges.some((edge) => edge.entryId === place?.entryId) ?? false;
  const unsuitable = posts !== undefined && (cursor === undefined ? !returning && posts.pageInfo.hasPreviousPage : !holdsPlace);
  const [step, setStep] = useState<{ done: boolean; error?: unknown; attempt: number }>({ done: false, attempt: 0 });
  // Decided once: later the list changes for other reasons.
  const [suits, setSuits] = useState<boolean>();
  if (suits === undefined && posts !== undefined) setSuits(!unsuitable);
  const needed = live !== undefined && !step.done && (posts === undefined || suits === false);
  const { attempt } = step;
  useEffect(() => {
    if (!needed || !live) return;
    let left = false;
    live.window.readAround(cursor).then(
      () => {
        if (!left) setStep({ done: true, attempt });
      },
      (error: unknown) => {
        if (!left) setStep({ done: true, error, attempt });
      },
    );
    return () => {
      left = true;
    };
  }, [live, needed, cursor, attempt]);
  return {
    reading: needed && posts !== undefined,
    error: step.error,
    retry: () => setStep({ done: false, attempt: attempt + 1 }),
  };
}

type Posts = TimelineWindowFragment["posts"];

/** Shows the head when the reader navigates to the timeline that is shown already. */
function useNewVisit(visit: string, returning: boolean, show: () => Promise<void>): void {
  const last = useRef(visit);
  useEffect(() => {
    if (last.current === visit) return;
    last.current = visit;
    if (!returning) void show();
  }, [visit, returning, show]);
}

/** Numbers the posts so that a post in view stays where it is while others come and go around it. */
function useFirstIndex(shown: readonly TimelineEdge[], atHead: boolean, place: () => Place | undefined): number {
  const [numbered, setNumbered] = useState<Numbered & { shown: readonly TimelineEdge[] }>(() => ({
    shown,
    ids: shown.map((edge) => edge.entryId),
    first: startIndex,
  }));
  if (numbered.shown === shown) return numbered.first;
  const ids = shown.map((edge) => edge.entryId);
  const now = place();
  // A reader at the head sees new posts there: they created them, or asked for them.
  const seesHead = atHead && now?.entryId === numbered.ids[0] && now !== undefined && now.top >= 0;
  const next = renumber(numbered, ids, seesHead ? undefined : now?.entryId);
  setNumbered({ ...next, shown });
  return next.first;
}

