// Generated from schema.graphqls and the .graphql files by `npm run codegen`.
import type * as Types from "../api/generated.ts";
import { PostDetailsFragmentDoc, PostLikesFragmentDoc, PostQuoteFragmentDoc, PostRepostsFragmentDoc, QuotedContentFragmentDoc, TimelineEntryFragmentDoc, TimelinePostFragmentDoc, TimelineWindowFragmentDoc } from "@retwis/client/fragments";
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

const TimelineEntryDefinition = TimelineEntryFragmentDoc.definitions[0];
const TimelinePostDefinition = TimelinePostFragmentDoc.definitions[0];
const PostLikesDefinition = PostLikesFragmentDoc.definitions[0];
const PostRepostsDefinition = PostRepostsFragmentDoc.definitions[0];
const QuotedContentDefinition = QuotedContentFragmentDoc.definitions[0];
const PostQuoteDefinition = PostQuoteFragmentDoc.definitions[0];
const PostDetailsDefinition = PostDetailsFragmentDoc.definitions[0];
const TimelineWindowDefinition = TimelineWindowFragmentDoc.definitions[0];
export const TagPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"TagPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"name"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"tag"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"name"},"value":{"kind":"Variable","name":{"kind":"Name","value":"name"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineWindow"}}]}}]}}]}},TimelineEntryDefinition,TimelinePostDefinition,PostLikesDefinition,PostRepostsDefinition,QuotedContentDefinition,PostQuoteDefinition,PostDetailsDefinition,TimelineWindowDefinition]} as unknown as DocumentNode<Types.TagPageQuery, Types.TagPageQueryVariables>;