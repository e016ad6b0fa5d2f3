// Generated from schema.graphqls and the .graphql files by `npm run codegen`.
import type * as Types from "../api/generated.ts";
import { PostDetailsFragmentDoc, PostLikesFragmentDoc, PostQuoteFragmentDoc, PostRepostsFragmentDoc, QuotedContentFragmentDoc, TimelineEntryFragmentDoc, TimelinePostFragmentDoc, TimelineUnreadFragmentDoc, TimelineWindowFragmentDoc } from "@retwis/client/fragments";
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

const TimelineEntryDefinition = TimelineEntryFragmentDoc.definitions[0];
const TimelinePostDefinition = TimelinePostFragmentDoc.definitions[0];
const PostLikesDefinition = PostLikesFragmentDoc.definitions[0];
const PostRepostsDefinition = PostRepostsFragmentDoc.definitions[0];
const QuotedContentDefinition = QuotedContentFragmentDoc.definitions[0];
const PostQuoteDefinition = PostQuoteFragmentDoc.definitions[0];
const PostDetailsDefinition = PostDetailsFragmentDoc.definitions[0];
const TimelineWindowDefinition = TimelineWindowFragmentDoc.definitions[0];
const TimelineUnreadDefinition = TimelineUnreadFragmentDoc.definitions[0];
export const HomePageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"HomePage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"homeTimeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineWindow"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineUnread"}}]}}]}}]}},TimelineEntryDefinition,TimelinePostDefinition,PostLikesDefinition,PostRepostsDefinition,QuotedContentDefinition,PostQuoteDefinition,PostDetailsDefinition,TimelineWindowDefinition,TimelineUnreadDefinition]} as unknown as DocumentNode<Types.HomePageQuery, Types.HomePageQueryVariables>;