import type { Paging } from "@retwis/client";
import type { ReactNode } from "react";
import { Virtuoso } from "react-virtuoso";
import { MoreBelow } from "../timeline/MoreBelow.tsx";
import { Empty } from "../ui/states.tsx";
import { focusNeighbour } from "./focus.ts";
import { PostCard, type PostCardProps } from "./PostCard.tsx";

/** Posts rendered in the first frame: a screen full. */
const firstFrame = 16;

export interface PostListProps {
  edges: readonly { node: PostCardProps["post"] }[];
  paging: Paging;
  /** The accessible name of the list. */
  label: string;
  /** Shown if there are no posts. */
  empty: ReactNode;
}

/** A list of posts that is not live, and loads more as the reader scrolls. */
export function PostList({ edges, paging, label, empty }: PostListProps) {
  if (edges.length === 0 && !paging.more) return <Empty>{empty}</Empty>;
  const ids = edges.map(({ node }) => node.id);
  return (
    <section aria-label={label}>
      <Virtuoso
        useWindowScroll
        data={edges}
        initialItemCount={Math.min(edges.length, firstFrame)}
        context={paging}
        computeItemKey={(_, edge) => edge.node.id}
        itemContent={(_, { node }) => <PostCard post={node} onRemoved={() => focusNeighbour(ids, node.id)} />}
        endReached={() => void paging.load()}
        components={{ Footer: ({ context }) => <MoreBelow {...context} /> }}
      />
    </section>
  );
}
