// Generated from schema.graphqls and the .graphql files by `npm run codegen`.
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Why a post cannot be shown. Later versions may add reasons. */
export type UnavailableReason =
  /** Its author, or the account of its author, deleted it. */
  | 'DELETED';

/** An order of replies. */
export type ReplyOrder =
  /** The oldest reply first. */
  | 'OLDEST'
  /** The newest reply first. */
  | 'NEWEST';

/** A new post. */
export type CreatePostInput = {
  /**
   * The text: 1 to 280 user-perceived characters and at most 4096 bytes, after leading and trailing white
   * space is removed. Line breaks are kept; control characters are refused.
   */
  text: string;
  /**
   * A key for retries: 1 to 64 printable ASCII characters chosen by the client. A repeat with the same key
   * within a day creates no second post and returns the first.
   */
  idempotencyKey?: string | null | undefined;
  /**
   * The id of the post that this one answers. A post that does not exist or was deleted is refused with the code
   * `NOT_FOUND`.
   */
  inReplyToId?: string | null | undefined;
  /**
   * The id of the post that this one quotes. A post that does not exist or was deleted is refused with the code
   * `NOT_FOUND`.
   */
  quotedPostId?: string | null | undefined;
};

/** A position up to which a timeline is read. */
export type MarkTimelineReadInput = {
  /** The id of a home, mentions or list timeline of the viewer. */
  timelineId: string;
  /** A cursor of this timeline's edges or events, or its `liveCursor`. The post at the cursor is read. */
  cursor: string;
};

/** The kinds of validation errors. */
export type UserErrorCode =
  /** A required value is empty or has no visible characters. */
  | 'BLANK'
  /** The value is shorter than allowed. */
  | 'TOO_SHORT'
  /** The value is longer than allowed. */
  | 'TOO_LONG'
  /** The value has an invalid format or invalid characters, or differs from an earlier request with the same idempotency key. */
  | 'INVALID'
  /** The username is taken. */
  | 'TAKEN'
  /** The object does not exist. */
  | 'NOT_FOUND'
  /** Wrong username or password. */
  | 'WRONG_CREDENTIALS'
  /** Users cannot follow themselves. */
  | 'SELF_FOLLOW'
  /** The viewer has reached the maximum number. */
  | 'LIMIT_REACHED'
  /** The object belongs to another user. */
  | 'NOT_OWNER';

/** The reason why a timeline must be fetched again. */
export type TimelineResetReason =
  /** The server no longer holds the position to resume from. */
  | 'CURSOR_TOO_OLD'
  /** Posts were added or removed below the head, for example because the viewer followed a user. */
  | 'HISTORY_CHANGED';

export type ThreadPageQueryVariables = Exact<{
  postId: string;
  orderBy: ReplyOrder;
}>;


export type ThreadPageQuery = { thread: { __typename: 'Thread', postId: string, replyCount: number, post: (
      { __typename: 'Post', id: string }
      & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment;'PostDetailsFragment': PostDetailsFragment;'PostQuoteCountFragment': PostQuoteCountFragment } }
    ) | null, ancestors: Array<{ __typename: 'Ancestor', postId: string, unavailable: UnavailableReason | null, post: (
        { __typename: 'Post', id: string, inReplyToId: string | null }
        & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment;'PostDetailsFragment': PostDetailsFragment } }
      ) | null }>, replies: { __typename: 'ReplyConnection', edges: Array<{ __typename: 'PostEdge', cursor: string, node: (
          { __typename: 'Post', id: string }
          & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment;'PostDetailsFragment': PostDetailsFragment } }
        ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type MoreRepliesQueryVariables = Exact<{
  postId: string;
  orderBy: ReplyOrder;
  after?: string | null | undefined;
}>;


export type MoreRepliesQuery = { thread: { __typename: 'Thread', postId: string, replies: { __typename: 'ReplyConnection', edges: Array<{ __typename: 'PostEdge', cursor: string, node: (
          { __typename: 'Post', id: string }
          & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment;'PostDetailsFragment': PostDetailsFragment } }
        ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type TimelinePostFragment = { __typename: 'Post', id: string, text: string, createdAt: string, replyCount: number, likeCount: number, inReplyToId: string | null, quotedPostId: string | null, author: { __typename: 'User', id: string, username: string, displayName: string }, entities: Array<
    | { __typename: 'TextLink', url: string, start: number, end: number }
    | { __typename: 'TextMention', start: number, end: number, user: { __typename: 'User', id: string, username: string } }
    | { __typename: 'TextHashtag', name: string, start: number, end: number }
  >, inReplyToUser: { __typename: 'User', id: string, username: string } | null } & { ' $fragmentName'?: 'TimelinePostFragment' };

export type QuotedContentFragment = { __typename: 'Post', id: string, text: string, createdAt: string, author: { __typename: 'User', id: string, username: string, displayName: string } } & { ' $fragmentName'?: 'QuotedContentFragment' };

export type PostQuoteFragment = { __typename: 'Post', id: string, quotedPostId: string | null, quotedPost: { __typename: 'QuotedPost', postId: string, unavailable: UnavailableReason | null, post: { __typename: 'Post', id: string, text: string, createdAt: string, author: { __typename: 'User', id: string, username: string, displayName: string } } | null } | null } & { ' $fragmentName'?: 'PostQuoteFragment' };

export type PostQuoteCountFragment = { __typename: 'Post', id: string, quoteCount: number } & { ' $fragmentName'?: 'PostQuoteCountFragment' };

export type PostLikesFragment = { __typename: 'Post', id: string, likeCount: number, viewerHasLiked: boolean } & { ' $fragmentName'?: 'PostLikesFragment' };

export type PostRepostsFragment = { __typename: 'Post', id: string, repostCount: number, viewerHasReposted: boolean } & { ' $fragmentName'?: 'PostRepostsFragment' };

export type PostDetailsFragment = { __typename: 'Post', id: string, likeCount: number, viewerHasLiked: boolean, repostCount: number, viewerHasReposted: boolean, quotedPostId: string | null, quotedPost: { __typename: 'QuotedPost', postId: string, unavailable: UnavailableReason | null, post: { __typename: 'Post', id: string, text: string, createdAt: string, author: { __typename: 'User', id: string, username: string, displayName: string } } | null } | null } & { ' $fragmentName'?: 'PostDetailsFragment' };

export type MissingPostDetailsQueryVariables = Exact<{
  postIds: Array<string> | string;
}>;


export type MissingPostDetailsQuery = { nodes: Array<
    | { __typename: 'User', id: string }
    | (
      { __typename: 'Post', id: string }
      & { ' $fragmentRefs'?: { 'PostDetailsFragment': PostDetailsFragment } }
    )
    | { __typename: 'Tag', id: string }
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null> };

export type TimelineEntryFragment = { __typename: 'PostEdge', cursor: string, entryId: string, reason: { __typename: 'Repost', createdAt: string, user: { __typename: 'User', id: string, username: string, displayName: string } } | null } & { ' $fragmentName'?: 'TimelineEntryFragment' };

export type TimelineWindowFragment = { __typename: 'Timeline', id: string, posts: { __typename: 'PostConnection', liveCursor: string, edges: Array<{ __typename: 'PostEdge', cursor: string, entryId: string, node: (
        { __typename: 'Post', id: string }
        & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment;'PostDetailsFragment': PostDetailsFragment } }
      ), reason: { __typename: 'Repost', createdAt: string, user: { __typename: 'User', id: string, username: string, displayName: string } } | null }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } & { ' $fragmentName'?: 'TimelineWindowFragment' };

export type TimelinePageQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type TimelinePageQuery = { node:
    | { __typename: 'User', id: string }
    | { __typename: 'Post', id: string }
    | { __typename: 'Tag', id: string }
    | { __typename: 'Timeline', id: string, posts: { __typename: 'PostConnection', liveCursor: string, edges: Array<{ __typename: 'PostEdge', cursor: string, entryId: string, node: { __typename: 'Post', id: string, text: string, createdAt: string, replyCount: number, likeCount: number, inReplyToId: string | null, quotedPostId: string | null, viewerHasLiked: boolean, repostCount: number, viewerHasReposted: boolean, author: { __typename: 'User', id: string, username: string, displayName: string }, entities: Array<
              | { __typename: 'TextLink', url: string, start: number, end: number }
              | { __typename: 'TextMention', start: number, end: number, user: { __typename: 'User', id: string, username: string } }
              | { __typename: 'TextHashtag', name: string, start: number, end: number }
            >, inReplyToUser: { __typename: 'User', id: string, username: string } | null, quotedPost: { __typename: 'QuotedPost', postId: string, unavailable: UnavailableReason | null, post: { __typename: 'Post', id: string, text: string, createdAt: string, author: { __typename: 'User', id: string, username: string, displayName: string } } | null } | null }, reason: { __typename: 'Repost', createdAt: string, user: { __typename: 'User', id: string, username: string, displayName: string } } | null }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } }
    | { __typename: 'List', id: string }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null };

export type ViewerTimelinesQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerTimelinesQuery = { viewer: { __typename: 'Viewer', id: string, user: { __typename: 'User', id: string, username: string, displayName: string }, homeTimeline: { __typename: 'Timeline', id: string }, mentionsTimeline: { __typename: 'Timeline', id: string } } | null };

export type PublicTimelineQueryVariables = Exact<{ [key: string]: never; }>;


export type PublicTimelineQuery = { publicTimeline: { __typename: 'Timeline', id: string } | null };

export type ProfileTimelineQueryVariables = Exact<{
  username: string;
  includeReplies?: boolean | null | undefined;
}>;


export type ProfileTimelineQuery = { user: { __typename: 'User', id: string, timeline: { __typename: 'Timeline', id: string } } | null };

export type TagTimelineQueryVariables = Exact<{
  name: string;
}>;


export type TagTimelineQuery = { tag: { __typename: 'Tag', id: string, timeline: { __typename: 'Timeline', id: string } } | null };

export type TimelineEventsSubscriptionVariables = Exact<{
  timelineId: string;
  after?: string | null | undefined;
}>;


export type TimelineEventsSubscription = { timelineEvents:
    | { __typename: 'PostAdded', cursor: string, edge: { __typename: 'PostEdge', cursor: string, entryId: string, node: (
          { __typename: 'Post', id: string, author: { __typename: 'User', id: string } }
          & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment } }
        ), reason: { __typename: 'Repost', createdAt: string, user: { __typename: 'User', id: string, username: string, displayName: string } } | null } }
    | { __typename: 'PostRemoved', entryId: string, cursor: string }
    | { __typename: 'PostChanged', cursor: string, post: { __typename: 'Post', id: string, likeCount: number } }
    | { __typename: 'TimelineCaughtUp', replayed: number, marker: string | null, cursor: string }
    | { __typename: 'TimelineMarkerMoved', marker: string | null, cursor: string }
    | { __typename: 'TimelineAdvanced', cursor: string }
    | { __typename: 'TimelineReset', reason: TimelineResetReason, cursor: string }
   };

export type TimelineUnreadFragment = { __typename: 'Timeline', id: string, marker: string | null, unreadCount: number | null } & { ' $fragmentName'?: 'TimelineUnreadFragment' };

export type UnreadCountsQueryVariables = Exact<{
  timelineIds: Array<string> | string;
}>;


export type UnreadCountsQuery = { nodes: Array<
    | { __typename: 'User', id: string }
    | { __typename: 'Post', id: string }
    | { __typename: 'Tag', id: string }
    | { __typename: 'Timeline', id: string, marker: string | null, unreadCount: number | null }
    | { __typename: 'List', id: string }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null> };

export type MarkTimelineReadMutationVariables = Exact<{
  input: MarkTimelineReadInput;
}>;


export type MarkTimelineReadMutation = { markTimelineRead: { __typename: 'MarkTimelineReadPayload', timeline: { __typename: 'Timeline', id: string, marker: string | null, unreadCount: number | null } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type CreatePostMutationVariables = Exact<{
  input: CreatePostInput;
}>;


export type CreatePostMutation = { createPost: { __typename: 'CreatePostPayload', edge: { __typename: 'PostEdge', cursor: string, node: (
        { __typename: 'Post', id: string }
        & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment } }
      ) } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type DeletePostMutationVariables = Exact<{
  postId: string;
}>;


export type DeletePostMutation = { deletePost: { __typename: 'DeletePostPayload', deletedPostId: string | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type LikePostMutationVariables = Exact<{
  postId: string;
}>;


export type LikePostMutation = { likePost: { __typename: 'LikePayload', post: (
      { __typename: 'Post', id: string }
      & { ' $fragmentRefs'?: { 'PostLikesFragment': PostLikesFragment } }
    ) | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type UnlikePostMutationVariables = Exact<{
  postId: string;
}>;


export type UnlikePostMutation = { unlikePost: { __typename: 'LikePayload', post: (
      { __typename: 'Post', id: string }
      & { ' $fragmentRefs'?: { 'PostLikesFragment': PostLikesFragment } }
    ) | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type RepostPostMutationVariables = Exact<{
  postId: string;
}>;


export type RepostPostMutation = { repostPost: { __typename: 'RepostPayload', post: { __typename: 'Post', id: string, viewerHasReposted: boolean } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type UndoRepostMutationVariables = Exact<{
  postId: string;
}>;


export type UndoRepostMutation = { undoRepost: { __typename: 'RepostPayload', post: { __typename: 'Post', id: string, viewerHasReposted: boolean } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

const PostQuoteCountDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PostQuoteCount"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Post"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"quoteCount"}}]}};
const TimelineEntryDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"TimelineEntry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PostEdge"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"entryId"}},{"kind":"Field","name":{"kind":"Name","value":"reason"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]}};
const TimelinePostDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"TimelinePost"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Post"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"author"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}}]}},{"kind":"Field","name":{"kind":"Name","value":"entities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"start"}},{"kind":"Field","name":{"kind":"Name","value":"end"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TextLink"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TextMention"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TextHashtag"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"replyCount"}},{"kind":"Field","name":{"kind":"Name","value":"likeCount"}},{"kind":"Field","name":{"kind":"Name","value":"inReplyToId"}},{"kind":"Field","name":{"kind":"Name","value":"inReplyToUser"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}}]}},{"kind":"Field","name":{"kind":"Name","value":"quotedPostId"}}]}};
const PostLikesDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PostLikes"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Post"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"likeCount"}},{"kind":"Field","name":{"kind":"Name","value":"viewerHasLiked"}}]}};
const PostRepostsDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PostReposts"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Post"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"repostCount"}},{"kind":"Field","name":{"kind":"Name","value":"viewerHasReposted"}}]}};
const QuotedContentDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"QuotedContent"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Post"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"author"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}}]}}]}};
const PostQuoteDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PostQuote"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Post"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"quotedPostId"}},{"kind":"Field","name":{"kind":"Name","value":"quotedPost"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"postId"}},{"kind":"Field","name":{"kind":"Name","value":"post"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"QuotedContent"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]}]}},{"kind":"Field","name":{"kind":"Name","value":"unavailable"}}]}}]}};
const PostDetailsDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"PostDetails"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Post"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostLikes"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostReposts"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostQuote"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]}]}};
const TimelineWindowDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"TimelineWindow"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Timeline"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"posts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"30"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineEntry"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelinePost"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostDetails"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"liveCursor"}}]}}]}};
const TimelineUnreadDefinition = {"kind":"FragmentDefinition","name":{"kind":"Name","value":"TimelineUnread"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Timeline"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"marker"}},{"kind":"Field","name":{"kind":"Name","value":"unreadCount"}}]}};
export const PostQuoteCountFragmentDoc = {"kind":"Document","definitions":[PostQuoteCountDefinition]} as unknown as DocumentNode<PostQuoteCountFragment, unknown>;
export const TimelineEntryFragmentDoc = {"kind":"Document","definitions":[TimelineEntryDefinition]} as unknown as DocumentNode<TimelineEntryFragment, unknown>;
export const TimelinePostFragmentDoc = {"kind":"Document","definitions":[TimelinePostDefinition]} as unknown as DocumentNode<TimelinePostFragment, unknown>;
export const PostLikesFragmentDoc = {"kind":"Document","definitions":[PostLikesDefinition]} as unknown as DocumentNode<PostLikesFragment, unknown>;
export const PostRepostsFragmentDoc = {"kind":"Document","definitions":[PostRepostsDefinition]} as unknown as DocumentNode<PostRepostsFragment, unknown>;
export const QuotedContentFragmentDoc = {"kind":"Document","definitions":[QuotedContentDefinition]} as unknown as DocumentNode<QuotedContentFragment, unknown>;
export const PostQuoteFragmentDoc = {"kind":"Document","definitions":[PostQuoteDefinition,QuotedContentDefinition]} as unknown as DocumentNode<PostQuoteFragment, unknown>;
export const PostDetailsFragmentDoc = {"kind":"Document","definitions":[PostDetailsDefinition,QuotedContentDefinition,PostLikesDefinition,PostRepostsDefinition,PostQuoteDefinition]} as unknown as DocumentNode<PostDetailsFragment, unknown>;
export const TimelineWindowFragmentDoc = {"kind":"Document","definitions":[TimelineWindowDefinition,PostLikesDefinition,PostRepostsDefinition,QuotedContentDefinition,PostQuoteDefinition,TimelineEntryDefinition,TimelinePostDefinition,PostDetailsDefinition]} as unknown as DocumentNode<TimelineWindowFragment, unknown>;
export const TimelineUnreadFragmentDoc = {"kind":"Document","definitions":[TimelineUnreadDefinition]} as unknown as DocumentNode<TimelineUnreadFragment, unknown>;
export const ThreadPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ThreadPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"postId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ReplyOrder"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"thread"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"postId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"postId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"postId"}},{"kind":"Field","name":{"kind":"Name","value":"post"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelinePost"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostDetails"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostQuoteCount"}}]}},{"kind":"Field","name":{"kind":"Name","value":"ancestors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"postId"}},{"kind":"Field","name":{"kind":"Name","value":"post"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"inReplyToId"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelinePost"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostDetails"}}]}},{"kind":"Field","name":{"kind":"Name","value":"unavailable"}}]}},{"kind":"Field","name":{"kind":"Name","value":"replyCount"}},{"kind":"Field","name":{"kind":"Name","value":"replies"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"20"}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelinePost"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostDetails"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},PostLikesDefinition,PostRepostsDefinition,QuotedContentDefinition,PostQuoteDefinition,TimelinePostDefinition,PostDetailsDefinition,PostQuoteCountDefinition]} as unknown as DocumentNode<ThreadPageQuery, ThreadPageQueryVariables>;
export const MoreRepliesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MoreReplies"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"postId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ReplyOrder"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"thread"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"postId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"postId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"postId"}},{"kind":"Field","name":{"kind":"Name","value":"replies"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"20"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelinePost"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostDetails"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},PostLikesDefinition,PostRepostsDefinition,QuotedContentDefinition,PostQuoteDefinition,TimelinePostDefinition,PostDetailsDefinition]} as unknown as DocumentNode<MoreRepliesQuery, MoreRepliesQueryVariables>;
export const MissingPostDetailsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MissingPostDetails"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"postIds"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"ids"},"value":{"kind":"Variable","name":{"kind":"Name","value":"postIds"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Post"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostDetails"}}]}}]}}]}},PostLikesDefinition,PostRepostsDefinition,QuotedContentDefinition,PostQuoteDefinition,PostDetailsDefinition]} as unknown as DocumentNode<MissingPostDetailsQuery, MissingPostDetailsQueryVariables>;
export const TimelinePageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"TimelinePage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Timeline"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"posts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineEntry"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelinePost"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostDetails"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"liveCursor"}}]}}]}}]}}]}},PostLikesDefinition,PostRepostsDefinition,QuotedContentDefinition,PostQuoteDefinition,TimelineEntryDefinition,TimelinePostDefinition,PostDetailsDefinition]} as unknown as DocumentNode<TimelinePageQuery, TimelinePageQueryVariables>;
export const ViewerTimelinesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ViewerTimelines"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}}]}},{"kind":"Field","name":{"kind":"Name","value":"homeTimeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"mentionsTimeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<ViewerTimelinesQuery, ViewerTimelinesQueryVariables>;
export const PublicTimelineDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"PublicTimeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"publicTimeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]} as unknown as DocumentNode<PublicTimelineQuery, PublicTimelineQueryVariables>;
export const ProfileTimelineDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ProfileTimeline"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"username"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"includeReplies"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"username"},"value":{"kind":"Variable","name":{"kind":"Name","value":"username"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"timeline"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"includeReplies"},"value":{"kind":"Variable","name":{"kind":"Name","value":"includeReplies"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<ProfileTimelineQuery, ProfileTimelineQueryVariables>;
export const TagTimelineDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"TagTimeline"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"name"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"tag"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"name"},"value":{"kind":"Variable","name":{"kind":"Name","value":"name"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"timeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<TagTimelineQuery, TagTimelineQueryVariables>;
export const TimelineEventsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"TimelineEvents"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"timelineId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"timelineEvents"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"timelineId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"timelineId"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PostAdded"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edge"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineEntry"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"author"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelinePost"}}]}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PostRemoved"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entryId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PostChanged"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"post"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"likeCount"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimelineMarkerMoved"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"marker"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimelineCaughtUp"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"marker"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TimelineReset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}}]}}]}},TimelineEntryDefinition,TimelinePostDefinition]} as unknown as DocumentNode<TimelineEventsSubscription, TimelineEventsSubscriptionVariables>;
export const UnreadCountsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"UnreadCounts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"timelineIds"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"ids"},"value":{"kind":"Variable","name":{"kind":"Name","value":"timelineIds"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Timeline"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineUnread"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]}]}}]}}]}},TimelineUnreadDefinition]} as unknown as DocumentNode<UnreadCountsQuery, UnreadCountsQueryVariables>;
export const MarkTimelineReadDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"MarkTimelineRead"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"MarkTimelineReadInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"markTimelineRead"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"timeline"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelineUnread"},"directives":[{"kind":"Directive","name":{"kind":"Name","value":"unmask"}}]}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}},TimelineUnreadDefinition]} as unknown as DocumentNode<MarkTimelineReadMutation, MarkTimelineReadMutationVariables>;
export const CreatePostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreatePost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreatePostInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createPost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edge"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"TimelinePost"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}},TimelinePostDefinition]} as unknown as DocumentNode<CreatePostMutation, CreatePostMutationVariables>;
export const DeletePostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeletePost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"postId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deletePost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"postId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"postId"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deletedPostId"}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<DeletePostMutation, DeletePostMutationVariables>;
export const LikePostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"LikePost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"postId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"likePost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"postId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"postId"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"post"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostLikes"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}},PostLikesDefinition]} as unknown as DocumentNode<LikePostMutation, LikePostMutationVariables>;
export const UnlikePostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UnlikePost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"postId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"unlikePost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"postId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"postId"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"post"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"PostLikes"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}},PostLikesDefinition]} as unknown as DocumentNode<UnlikePostMutation, UnlikePostMutationVariables>;
export const RepostPostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RepostPost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"postId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"repostPost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"postId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"postId"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"post"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"viewerHasReposted"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<RepostPostMutation, RepostPostMutationVariables>;
export const UndoRepostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UndoRepost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"postId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"undoRepost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"postId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"postId"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"post"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"viewerHasReposted"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<UndoRepostMutation, UndoRepostMutationVariables>;

      export interface PossibleTypesResultData {
        possibleTypes: {
          [key: string]: string[]
        }
      }
      const result: PossibleTypesResultData = {
  "possibleTypes": {
    "Node": [
      "User",
      "Post",
      "Tag",
      "Timeline",
      "List",
      "Viewer",
      "Session"
    ],
    "TextEntity": [
      "TextLink",
      "TextMention",
      "TextHashtag"
    ],
    "TimelineEvent": [
      "PostAdded",
      "PostRemoved",
      "PostChanged",
      "TimelineCaughtUp",
      "TimelineMarkerMoved",
      "TimelineAdvanced",
      "TimelineReset"
    ]
  }
};
      export default result;
    