import type { FragmentType } from "@apollo/client";
import { useFragment } from "@apollo/client/react";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { useLocation, useNavigationType } from "react-router";
import { Virtuoso, type Components, type VirtuosoHandle } from "react-virtuoso";
import { Feed_TimelineFragmentDoc, type Feed_TimelineFragment } from "../api/generated.ts";
import { useServices } from "../app/services.ts";
import { useShortcuts } from "../app/shortcuts.ts";
import { PostCard } from "../posts/PostCard.tsx";
import { usePaging } from "../ui/paging.ts";
import { Empty, Skeleton } from "../ui/states.tsx";
import { NewPostsPill } from "./NewPostsPill.tsx";
import { renumber, startIndex, type Numbered } from "./firstIndex.ts";
import { MoreBelow, type PageState } from "./MoreBelow.tsx";
import { usePlace, useReturn, type FeedHandle } from "./usePlace.ts";
import type { Place } from "./places.ts";
import { readAround, readPage } from "./window.ts";

type Edge = Feed_TimelineFragment["posts"]["edges"][number];

/** Posts in the first frame: a screen full. */
const firstFrame = 16;
/** How high a post of one line is. */
const lineHeight = 84;
/** Frames within which a post that the keys have gone to is on the page. */
const arriveFrames = 60;

export interface FeedProps {
  timeline: FragmentType<Feed_TimelineFragment> & { id: string };
  /** What the list is called, for those who hear it. */
  label: string;
  /** Shown in place of posts when there are none. */
  empty: ReactNode;
}

/** A timeline: live, endless in both directions, and always where the reader left it. */
export function Feed({ timeline, label, empty }: FeedProps) {
  const { client, timelines } = useServices();
  const live = useMemo(() => timelines.get(timeline.id), [timelines, timeline.id]);
  const view = useSyncExternalStore(live.subscribe, live.getView);
  const { data, complete } = useFragment({ fragment: Feed_TimelineFragmentDoc, fragmentName: "Feed_timeline", from: timeline });
  const edges = complete ? data.posts.edges : undefined;
  const shown = useMemo(() => edges?.filter((edge) => !view.hidden.has(edge.node.id)) ?? [], [edges, view.hidden]);
  const waiting = (edges?.length ?? 0) - shown.length;

  const list = useRef<VirtuosoHandle>(null);
  const { key } = useLocation();
  const returning = useNavigationType() === "POP";
  const handle = useRef<FeedHandle>({ seek: () => {}, cursorOf: () => undefined });
  const place = usePlace(`${timeline.id} ${key}`, returning, handle);
  const onTheWay = useWindowAround(timeline.id, place.restored, edges);
  useReturn(place.restored, !onTheWay, handle);
  const atHead = edges !== undefined && data.posts?.pageInfo?.hasPreviousPage === false;
  const first = useFirstIndex(shown, atHead, place.current);

  // The events are followed once there is something they follow on.
  const shownNow = useRef(shown);
  useEffect(() => {
    shownNow.current = shown;
  }, [shown]);
  useEffect(() => {
    if (!complete || onTheWay) return;
    return live.follow({
      cursorInView: () => {
        const id = place.current()?.postId;
        return (shownNow.current.find((edge) => edge.node.id === id) ?? shownNow.current[0])?.cursor;
      },
    });
  }, [live, complete, onTheWay, place]);

  const older = usePaging(async () => {
    const { pageInfo } = readPageInfo();
    if (pageInfo?.hasNextPage && pageInfo.endCursor) await readPage(client, timeline.id, { after: pageInfo.endCursor });
  });
  const newer = usePaging(async () => {
    const { pageInfo } = readPageInfo();
    if (pageInfo?.hasPreviousPage && pageInfo.startCursor) await readPage(client, timeline.id, { before: pageInfo.startCursor });
  });
  const readPageInfo = () => ({ pageInfo: complete ? data.posts.pageInfo : undefined });

  const reveal = useCallback(async () => {
    await live.reveal();
    scrollToTop();
  }, [live]);

  // Where the keys have gone to, while the list is still scrolling there.
  const heading = useRef<string | undefined>(undefined);
  const move = (step: 1 | -1) => {
    const focused = document.activeElement?.closest<HTMLElement>("[data-post-id]")?.dataset["postId"];
    const from = heading.current ?? focused;
    const index = shown.findIndex((edge) => edge.node.id === (from ?? place.current()?.postId));
    const to = from === undefined ? Math.max(index, 0) : index + step;
    const target = shown[to]?.node.id;
    if (target === undefined) return;
    heading.current = target;
    let frames = arriveFrames;
    const left = document.activeElement;
    const arrive = () => {
      // A later key goes on from here, and whoever has gone elsewhere is not called back.
      if (heading.current !== target) return;
      const { activeElement } = document;
      if (activeElement !== left && activeElement !== document.body) {
        heading.current = undefined;
        return;
      }
      const element = postElement(target);
      element?.focus({ preventScroll: true });
      if (element || --frames === 0) heading.current = undefined;
      else requestAnimationFrame(arrive);
    };
    list.current?.scrollIntoView({ index: to });
    arrive();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1), ".": () => void reveal() });

  useEffect(() => {
    handle.current = {
      seek: (postId) => {
        const index = shown.findIndex((edge) => edge.node.id === postId);
        if (index >= 0) list.current?.scrollToIndex({ index, align: "start" });
      },
      cursorOf: (postId) => shown.find((edge) => edge.node.id === postId)?.cursor || undefined,
    };
  }, [shown]);

  const initial = useRef<number | undefined>(undefined);
  if (edges === undefined || onTheWay) return <Skeleton />;
  initial.current ??= place.restored ? shown.findIndex((edge) => edge.node.id === place.restored?.postId) : -1;
  return (
    <section aria-label={label} data-live={view.current}>
      <NewPostsPill count={waiting} more={view.beyond && !atHead} onClick={() => void reveal()} />
      {shown.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <Virtuoso<Edge, FeedContext>
          ref={list}
          useWindowScroll
          data={shown}
          context={{ label, older: { ...older, more: data.posts?.pageInfo?.hasNextPage ?? false } }}
          firstItemIndex={first}
          {...(initial.current >= 0
            ? { initialTopMostItemIndex: { index: initial.current, align: "start" as const, offset: -(place.restored?.top ?? 0) } }
            : // Posts are there in the first frame, and the list's foot where it belongs.
              { initialItemCount: Math.min(shown.length, firstFrame) })}
          defaultItemHeight={lineHeight}
          increaseViewportBy={{ top: 400, bottom: 1200 }}
          computeItemKey={(_, edge) => edge.node.id}
          itemContent={(index, edge) => <PostCard post={edge.node} position={index - first + 1} />}
          startReached={() => void newer.load()}
          endReached={() => void older.load()}
          components={components}
        />
      )}
    </section>
  );
}

interface FeedContext {
  label: string;
  older: PageState;
}

const components: Components<Edge, FeedContext> = {
  List: ({ ref, style, children, context }) => (
    <div ref={ref} style={style} role="feed" aria-label={context.label} aria-busy={context.older.loading}>
      {children}
    </div>
  ),
  Footer: ({ context }) => <MoreBelow {...context.older} />,
};

/** Numbers the posts so that what is in view stays in view, whatever comes and goes around it. */
function useFirstIndex(shown: readonly Edge[], atHead: boolean, place: () => Place | undefined): number {
  const [numbered, setNumbered] = useState<Numbered & { shown: readonly Edge[] }>(() => ({
    shown,
    ids: shown.map((edge) => edge.node.id),
    first: startIndex,
  }));
  if (numbered.shown === shown) return numbered.first;
  const ids = shown.map((edge) => edge.node.id);
  const now = place();
  // Whoever sees the head sees what is put there: it was they who posted it, or asked for it.
  const seesHead = atHead && now?.postId === numbered.ids[0] && now !== undefined && now.top >= 0;
  const next = renumber(numbered, ids, seesHead ? undefined : now?.postId);
  setNumbered({ ...next, shown });
  return next.first;
}

/**
 * Reads the timeline around a place that is not in the window, for who comes back there
 * after a reload. Reports whether that is still going on; should it fail, the head will do.
 */
function useWindowAround(timelineId: string, place: Place | undefined, edges: readonly Edge[] | undefined): boolean {
  const { client } = useServices();
  const cursor = place?.cursor;
  const [reading, setReading] = useState(() => cursor !== undefined && !edges?.some((edge) => edge.node.id === place?.postId));
  useEffect(() => {
    if (!reading) return;
    let left = false;
    const done = () => {
      if (!left) setReading(false);
    };
    readAround(client, timelineId, cursor).then(done, done);
    return () => {
      left = true;
    };
  }, [client, timelineId, cursor, reading]);
  return reading;
}

/** Shows the head of the list, after the list has taken in what is new there. */
export function scrollToTop(): void {
  requestAnimationFrame(() => requestAnimationFrame(() => window.scrollTo({ top: 0 })));
}

function postElement(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-post-id="${CSS.escape(id)}"]`);
}
