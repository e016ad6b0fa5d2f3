import type { TimelineEdge } from "@retwis/client";
import { Fragment, useLayoutEffect, type ReactNode } from "react";

export interface FirstPostsProps {
  label: string;
  edges: readonly TimelineEdge[];
  row: (edge: TimelineEdge, position: number) => ReactNode;
  /** Called before the list leaves the page. */
  onHide: () => void;
}

/** The first posts of a timeline, which are shown while the virtual list is loading. */
export function FirstPosts({ label, edges, row, onHide }: FirstPostsProps) {
  useLayoutEffect(() => onHide, [onHide]);
  return (
    <div role="feed" aria-label={label} aria-busy="true">
      {edges.map((edge, i) => (
        <Fragment key={edge.entryId}>{row(edge, i + 1)}</Fragment>
      ))}
    </div>
  );
}
