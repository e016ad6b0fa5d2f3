// Generated from schema.graphqls and the .graphql files by `npm run codegen`.
import type * as Types from "../api/generated.ts";
import { PostLikesFragmentDoc, PostQuoteFragmentDoc, QuotedContentFragmentDoc, TimelinePostFragmentDoc, TimelineUnreadFragmentDoc, TimelineWindowFragmentDoc } from "@retwis/client/fragments";
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

const TimelinePostDefinition = TimelinePostFragmentDoc.definitions[0];
const PostLikesDefinition = PostLikesFragmentDoc.definitions[0];
const QuotedContentDefinition = QuotedContentFragmentDoc.definitions[0];
const PostQuoteDefinition = PostQuoteFragmentDoc.definitions[0];
const TimelineWindowDefinition = TimelineWindowFragmentDoc.definitions[0];
const TimelineUnreadDefinition = TimelineUnreadFragmentDoc.definitions[0];
export const MentionsPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MentionsPage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"mentionsTimeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineWindow"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineUnread"}}]}}]}}]}},TimelinePostDefinition,PostLikesDefinition,QuotedContentDefinition,PostQuoteDefinition,TimelineWindowDefinition,TimelineUnreadDefinition]} as unknown as DocumentNode<Types.MentionsPageQuery, Types.MentionsPageQueryVariables>;