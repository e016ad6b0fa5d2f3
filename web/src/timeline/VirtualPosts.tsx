import type { Paging, Timeline, TimelineEdge } from "@retwis/client";
import { useLayoutEffect, type ReactNode, type Ref } from "react";
import { Virtuoso, type Components, type VirtuosoHandle } from "react-virtuoso";
import { MoreBelow } from "./MoreBelow.tsx";

/** The height of a post with one line of text, in pixels. */
const oneLineHeight = 112;

/** What the keyboard and the reader's place need of the list. */
export type ListRef = Pick<VirtuosoHandle, "scrollToIndex" | "scrollIntoView">;

export interface VirtualPostsProps extends Pick<Timeline, "edges" | "older" | "newer" | "firstIndex" | "restored"> {
  ref: Ref<ListRef>;
  label: string;
  /** How many posts the first frame has, unless it begins at a restored place. */
  firstFrame: number;
  row: (edge: TimelineEdge, position: number) => ReactNode;
  /** Called when the list is on the page. */
  onShown: () => void;
}

/** The posts of a timeline as a virtual list, endless in both directions. */
export function VirtualPosts({ ref, label, edges, older, newer, firstIndex, restored, firstFrame, row, onShown }: VirtualPostsProps) {
  useLayoutEffect(onShown, [onShown]);
  return (
    <Virtuoso<TimelineEdge, FeedContext>
      ref={ref as Ref<VirtuosoHandle>}
      useWindowScroll
      data={edges}
      context={{ label, older }}
      firstItemIndex={firstIndex}
      {...(restored
        ? { initialTopMostItemIndex: { index: restored.index, align: "start" as const, offset: -restored.top } }
        : // The first frame has posts, and the end of the list is where it belongs.
          { initialItemCount: Math.min(edges.length, firstFrame) })}
      defaultItemHeight={oneLineHeight}
      increaseViewportBy={{ top: 400, bottom: 1200 }}
      computeItemKey={(_, edge) => edge.entryId}
      itemContent={(index, edge) => row(edge, index - firstIndex + 1)}
      startReached={() => void newer.load()}
      endReached={() => void older.load()}
      components={components}
    />
  );
}

interface FeedContext {
  label: string;
  older: Paging;
}

const components: Components<TimelineEdge, FeedContext> = {
  List: ({ ref, style, children, context }) => (
    <div ref={ref} style={style} role="feed" aria-label={context.label} aria-busy={context.older.loading}>
      {children}
    </div>
  ),
  Footer: ({ context }) => <MoreBelow {...context.older} />,
};
