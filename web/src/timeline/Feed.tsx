import { entryElement, maxUnread, useReading, useTimeline, whileSettling, type TimelineEdge } from "@retwis/client";
import { Suspense, useMemo, useRef, useState, type ReactNode, type RefObject } from "react";
import { useShortcuts } from "../app/shortcuts.ts";
import { feedClass } from "../early/elements.ts";
import { focusedEntry, focusEntry, focusNeighbour } from "../posts/focus.ts";
import { PostCard } from "../posts/PostCard.tsx";
import { answerFocusedPost, quoteFocusedPost } from "../posts/answer.ts";
import { useI18n } from "../i18n/I18n.tsx";
import { useVisit, type Visit } from "../router/visit.ts";
import { useViewer } from "../session/useSession.ts";
import { lazily } from "../ui/lazily.ts";
import { Empty, Problem, Skeleton } from "../ui/states.tsx";
import { useNumberInTitle } from "../ui/Title.tsx";
import { FirstPosts } from "./FirstPosts.tsx";
import { LastVisitLine } from "./LastVisitLine.tsx";
import { NewPostsPill } from "./NewPostsPill.tsx";
import type { ListRef } from "./VirtualPosts.tsx";

const VirtualPosts = lazily(async () => (await import("./VirtualPosts.tsx")).VirtualPosts);

/** Loads the virtual list, which every feed needs. Fulfilled also if that fails: a feed tries again. */
export async function preloadFeed(): Promise<void> {
  await import("./VirtualPosts.tsx").catch(() => {});
}

/** Posts rendered in the first frame: a screen full. */
const firstFrame = 16;
/** The frames within which a post that the keyboard selected is rendered. */
const selectFrames = 60;
/** The height of the bar at the top of phones, in pixels. */
const phoneBar = 56;

export interface FeedProps {
  timelineId: string;
  /** The accessible name of the list. */
  label: string;
  /** Shown if there are no posts. */
  empty: ReactNode;
}

/** A timeline as a virtual list: live, endless in both directions, and at the reader's place. */
export function Feed({ timelineId, label, empty }: FeedProps) {
  const { t, format } = useI18n();
  const list = useRef<ListRef>(null);
  const { key, returning } = useOwnVisit();
  const options = useMemo(
    () => ({
      visit: key,
      returning,
      scrollToIndex: (index: number) => list.current?.scrollToIndex({ index, align: "start" }),
      topInset: () => (matchMedia("(width < 40rem)").matches ? phoneBar : 0),
    }),
    [key, returning],
  );
  const timeline = useTimeline({ timelineId }, options);
  const { edges, newPosts, restored } = timeline;
  const { unreadCount, oldestUnread } = useReading(timeline, key);
  const waiting = unreadCount ?? newPosts.count;
  useNumberInTitle(waiting === 0 ? "" : unreadCount === undefined ? format.number(waiting) : format.numberUpTo(maxUnread, waiting));
  const viewer = useViewer();
  const select = useSelection(timeline.edges, timeline.entryInView, list);
  useShortcuts({ j: () => select(1), k: () => select(-1), ".": () => void newPosts.show(), r: () => answerFocusedPost(), q: () => quoteFocusedPost(viewer?.user.id) });

  const handOver = useHandOver();
  const row = (edge: TimelineEdge, position: number) => (
    <>
      {oldestUnread !== undefined && edges[position - 2]?.entryId === oldestUnread && <LastVisitLine />}
      <PostCard post={edge.node} entry={edge} position={position} onRemoved={() => focusNeighbour(withoutRepeats(edges, edge), edge.entryId)} />
    </>
  );

  if (timeline.status === "failed") return <Problem error={timeline.error} retry={timeline.retry} />;
  if (timeline.status === "missing") return <Empty>{t.errors.notFound}</Empty>;
  if (timeline.status === "loading") return <Skeleton />;
  return (
    <section aria-label={label} data-live={timeline.live} className={feedClass}>
      <NewPostsPill {...newPosts} />
      {edges.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <Suspense fallback={restored ? <Skeleton /> : <FirstPosts label={label} row={row} edges={edges.slice(0, firstFrame)} onHide={handOver.before} />}>
          <VirtualPosts label={label} row={row} {...timeline} ref={list} firstFrame={firstFrame} onShown={handOver.after} />
        </Suspense>
      )}
    </section>
  );
}

/** The last visit to the page of this feed. While the next page is loading, the feed is still there. */
function useOwnVisit(): Visit {
  const visit = useVisit();
  const [own, setOwn] = useState(visit);
  if (visit.pathname !== own.pathname || visit.key === own.key) return own;
  setOwn(visit);
  return visit;
}

/** The ids of the entries of a list without the other entries of one post, which may disappear with it. */
function withoutRepeats(edges: readonly TimelineEdge[], { entryId, node }: TimelineEdge): string[] {
  return edges.filter((edge) => edge.entryId === entryId || edge.node.id !== node.id).map((edge) => edge.entryId);
}

/** Keeps the focus on a post while one list replaces the other. */
function useHandOver(): { before: () => void; after: () => void } {
  const focused = useRef<string | undefined>(undefined);
  return useMemo(
    () => ({
      before: () => {
        focused.current = focusedEntry();
      },
      after: () => {
        const id = focused.current;
        focused.current = undefined;
        // A reader who moved the focus elsewhere in the meantime keeps it.
        if (id !== undefined) whileSettling(() => document.activeElement !== document.body || focusEntry(id));
      },
    }),
    [],
  );
}

/** Returns a function that moves the focus to the next or the previous post. */
function useSelection(edges: readonly TimelineEdge[], entryInView: () => string | undefined, list: RefObject<ListRef | null>) {
  // The post that was selected last, while the list is still scrolling to it.
  const selected = useRef<string | undefined>(undefined);
  return (step: 1 | -1) => {
    const from = selected.current ?? focusedEntry();
    const index = edges.findIndex((edge) => edge.entryId === (from ?? entryInView()));
    const to = from === undefined ? Math.max(index, 0) : index + step;
    const target = edges[to]?.entryId;
    if (target === undefined) return;
    selected.current = target;
    let frames = selectFrames;
    const before = document.activeElement;
    const arrive = () => {
      // A later key continues from here. A reader who moved the focus elsewhere keeps it.
      if (selected.current !== target) return;
      const { activeElement } = document;
      if (activeElement !== before && activeElement !== document.body) {
        selected.current = undefined;
        return;
      }
      const element = entryElement(target);
      element?.focus({ preventScroll: true });
      if (element || --frames === 0) selected.current = undefined;
      else requestAnimationFrame(arrive);
    };
    list.current?.scrollIntoView({ index: to });
    arrive();
  };
}
