import type { FragmentType } from "@apollo/client";
import type { ReactNode } from "react";
import { Virtuoso } from "react-virtuoso";
import type { PersonRow_UserFragment } from "../api/generated.ts";
import { MoreBelow, type PageState } from "../timeline/MoreBelow.tsx";
import { Empty } from "../ui/states.tsx";
import { PersonRow } from "./PersonRow.tsx";

/** People in the first frame: a screen full. */
const firstFrame = 16;

export interface PeopleListProps {
  edges: readonly { node: { id: string } & FragmentType<PersonRow_UserFragment> }[];
  state: PageState;
  /** What the list is called, for those who hear it. */
  label: string;
  /** Shown in place of people when there are none. */
  empty: ReactNode;
  /** What can be done with somebody, where that is not to follow them. */
  action?: ((userId: string) => ReactNode) | undefined;
}

/** A list of people that goes on as one scrolls. */
export function PeopleList({ edges, state, label, empty, action }: PeopleListProps) {
  if (edges.length === 0) return <Empty>{empty}</Empty>;
  return (
    <section aria-label={label}>
      <Virtuoso
        useWindowScroll
        data={edges}
        initialItemCount={Math.min(edges.length, firstFrame)}
        context={state}
        computeItemKey={(_, edge) => edge.node.id}
        itemContent={(_, edge) => <PersonRow user={edge.node} action={action?.(edge.node.id)} />}
        endReached={() => void state.load()}
        components={{ Footer }}
      />
    </section>
  );
}

function Footer({ context }: { context: PageState }) {
  return <MoreBelow {...context} />;
}
