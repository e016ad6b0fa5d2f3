import type { DocumentNode, FragmentDefinitionNode } from "graphql";
import {
  CreatePostDocument,
  MoreRepliesDocument,
  ThreadPageDocument,
  TimelineEventsDocument,
  TimelinePageDocument,
  TimelineWindowFragmentDoc,
} from "./generated.ts";

/** The operations that select posts. */
export interface TimelineDocuments {
  readonly window: typeof TimelineWindowFragmentDoc;
  readonly page: typeof TimelinePageDocument;
  readonly events: typeof TimelineEventsDocument;
  readonly thread: typeof ThreadPageDocument;
  readonly moreReplies: typeof MoreRepliesDocument;
  readonly createPost: typeof CreatePostDocument;
}

/**
 * Returns the operations that select posts. With `postFragment`, a document whose first
 * fragment is on `Post`, they select what that fragment selects besides their own fields.
 */
export function timelineDocuments(postFragment?: DocumentNode): TimelineDocuments {
  const extend = <T extends DocumentNode>(document: T): T => (postFragment ? withPostFragment(document, postFragment) : document);
  return {
    window: extend(TimelineWindowFragmentDoc),
    page: extend(TimelinePageDocument),
    events: extend(TimelineEventsDocument),
    thread: extend(ThreadPageDocument),
    moreReplies: extend(MoreRepliesDocument),
    createPost: extend(CreatePostDocument),
  };
}

/** Spreads a fragment of an app in the fragment TimelinePost of a document. */
function withPostFragment<T extends DocumentNode>(document: T, postFragment: DocumentNode): T {
  const added = postFragment.definitions.filter((d): d is FragmentDefinitionNode => d.kind === "FragmentDefinition");
  const first = added[0];
  if (first?.typeCondition.name.value !== "Post") throw new Error("postFragment has to begin with a fragment on Post");
  const spread = { kind: "FragmentSpread", name: first.name } as const;
  const definitions = document.definitions.map((definition) =>
    definition.kind === "FragmentDefinition" && definition.name.value === "TimelinePost"
      ? { ...definition, selectionSet: { ...definition.selectionSet, selections: [...definition.selectionSet.selections, spread] } }
      : definition,
  );
  return { ...document, definitions: [...definitions, ...added] };
}
