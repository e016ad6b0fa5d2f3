import type { FragmentType } from "@apollo/client";
import type { Paging } from "@retwis/client";
import type { ReactNode } from "react";
import { Virtuoso } from "react-virtuoso";
import type { PersonRow_UserFragment } from "../api/generated.ts";
import { MoreBelow } from "../timeline/MoreBelow.tsx";
import { Empty } from "../ui/states.tsx";
import { PersonRow } from "./PersonRow.tsx";

/** People rendered in the first frame: a screen full. */
const firstFrame = 16;

export interface PeopleListProps {
  edges: readonly { node: { id: string } & FragmentType<PersonRow_UserFragment> }[];
  paging: Paging;
  /** The accessible name of the list. */
  label: string;
  /** Shown if there are no people. */
  empty: ReactNode;
  /** An action for each person, in place of following. */
  action?: ((userId: string) => ReactNode) | undefined;
}

/** A list of people that loads more as the reader scrolls. */
export function PeopleList({ edges, paging, label, empty, action }: PeopleListProps) {
  if (edges.length === 0) return <Empty>{empty}</Empty>;
  return (
    <section aria-label={label}>
      <Virtuoso
        useWindowScroll
        data={edges}
        initialItemCount={Math.min(edges.length, firstFrame)}
        context={paging}
        computeItemKey={(_, edge) => edge.node.id}
        itemContent={(_, edge) => <PersonRow user={edge.node} action={action?.(edge.node.id)} />}
        endReached={() => void paging.load()}
        components={{ Footer }}
      />
    </section>
  );
}

function Footer({ context }: { context: Paging }) {
  return <MoreBelow {...context} />;
}
