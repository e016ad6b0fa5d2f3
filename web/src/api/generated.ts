// Generated from schema.graphqls and the .graphql files by `npm run codegen`.
import type { PostDetailsFragment, QuotedContentFragment, TimelinePostFragment, TimelineUnreadFragment, TimelineWindowFragment } from "@retwis/client";
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** A new account. */
export type RegisterInput = {
  /** 3 to 20 letters a to z in any case, digits and underscores, unique without regard to case. Some names are reserved. */
  username: string;
  /** 8 to 256 characters. The most common passwords are refused. */
  password: string;
  /** The name to display. The default is the username. */
  displayName?: string | null | undefined;
};

/** The credentials of a log-in. */
export type LoginInput = {
  /** The username, in any case. */
  username: string;
  /** The password. */
  password: string;
};

/** A change of password. */
export type ChangePasswordInput = {
  /** The current password. */
  currentPassword: string;
  /** The new password, 8 to 256 characters. The most common passwords are refused. */
  newPassword: string;
};

/** Changes to a profile. A field that is absent or null is not changed. */
export type UpdateProfileInput = {
  /** The name to display. */
  displayName?: string | null | undefined;
  /** The description that the user writes of themselves. The empty string clears it. */
  bio?: string | null | undefined;
};

/** A new list. */
export type CreateListInput = {
  /** The name: 1 to 50 user-perceived characters on one line. */
  name: string;
  /**
   * A key for retries: 1 to 64 printable ASCII characters chosen by the client. A repeat with the same key
   * within a day creates no second list and returns the first as it is then. The key of a deleted list is
   * `INVALID`.
   */
  idempotencyKey?: string | null | undefined;
};

/** A new name for a list. */
export type RenameListInput = {
  /** The id of the list. */
  listId: string;
  /** The name: 1 to 50 user-perceived characters on one line. */
  name: string;
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

export type ListHeader_ListFragment = { __typename: 'List', id: string, name: string, size: { __typename: 'UserConnection', totalCount: number }, timeline: { __typename: 'Timeline', id: string } } & { ' $fragmentName'?: 'ListHeader_ListFragment' };

export type ListsPageQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ListsPageQuery = { viewer: { __typename: 'Viewer', id: string, lists: { __typename: 'ListConnection', edges: Array<{ __typename: 'ListEdge', cursor: string, node: { __typename: 'List', id: string, name: string, size: { __typename: 'UserConnection', totalCount: number }, timeline: { __typename: 'Timeline', id: string } } }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type ListsWithQueryVariables = Exact<{
  userId: string;
  after?: string | null | undefined;
}>;


export type ListsWithQuery = { viewer: { __typename: 'Viewer', id: string, lists: { __typename: 'ListConnection', edges: Array<{ __typename: 'ListEdge', cursor: string, node: { __typename: 'List', id: string, name: string, hasMember: boolean } }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type ListPageQueryVariables = Exact<{
  id: string;
}>;


export type ListPageQuery = { node:
    | { __typename: 'User', id: string }
    | { __typename: 'Post', id: string }
    | { __typename: 'Tag', id: string }
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string, name: string, timeline: (
        { __typename: 'Timeline', id: string }
        & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment;'TimelineUnreadFragment': TimelineUnreadFragment } }
      ), size: { __typename: 'UserConnection', totalCount: number } }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null };

export type ListMembersPageQueryVariables = Exact<{
  id: string;
  after?: string | null | undefined;
}>;


export type ListMembersPageQuery = { node:
    | { __typename: 'User', id: string }
    | { __typename: 'Post', id: string }
    | { __typename: 'Tag', id: string }
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string, name: string, people: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
            { __typename: 'User', id: string }
            & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
          ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } }, size: { __typename: 'UserConnection', totalCount: number }, timeline: { __typename: 'Timeline', id: string } }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null };

export type CreateListMutationVariables = Exact<{
  input: CreateListInput;
}>;


export type CreateListMutation = { createList: { __typename: 'CreateListPayload', list: { __typename: 'List', id: string, name: string, size: { __typename: 'UserConnection', totalCount: number }, timeline: { __typename: 'Timeline', id: string } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type RenameListMutationVariables = Exact<{
  input: RenameListInput;
}>;


export type RenameListMutation = { renameList: { __typename: 'RenameListPayload', list: { __typename: 'List', id: string, name: string } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type DeleteListMutationVariables = Exact<{
  listId: string;
}>;


export type DeleteListMutation = { deleteList: { __typename: 'DeleteListPayload', deletedListId: string | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type AddListMemberMutationVariables = Exact<{
  listId: string;
  userId: string;
}>;


export type AddListMemberMutation = { addListMember: { __typename: 'AddListMemberPayload', list: { __typename: 'List', id: string, hasMember: boolean, name: string, size: { __typename: 'UserConnection', totalCount: number }, timeline: { __typename: 'Timeline', id: string } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type RemoveListMemberMutationVariables = Exact<{
  listId: string;
  userId: string;
}>;


export type RemoveListMemberMutation = { removeListMember: { __typename: 'RemoveListMemberPayload', list: { __typename: 'List', id: string, hasMember: boolean, name: string, size: { __typename: 'UserConnection', totalCount: number }, timeline: { __typename: 'Timeline', id: string } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type FindUserQueryVariables = Exact<{
  username: string;
}>;


export type FindUserQuery = { user: { __typename: 'User', id: string, displayName: string } | null };

export type HomePageQueryVariables = Exact<{ [key: string]: never; }>;


export type HomePageQuery = { viewer: { __typename: 'Viewer', id: string, homeTimeline: (
      { __typename: 'Timeline', id: string }
      & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment;'TimelineUnreadFragment': TimelineUnreadFragment } }
    ) } | null };

export type LikersPageQueryVariables = Exact<{
  postId: string;
  after?: string | null | undefined;
}>;


export type LikersPageQuery = { node:
    | { __typename: 'User', id: string }
    | { __typename: 'Post', id: string, likers: { __typename: 'LikerConnection', edges: Array<{ __typename: 'LikerEdge', cursor: string, node: (
            { __typename: 'User', id: string }
            & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
          ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } }
    | { __typename: 'Tag', id: string }
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null };

export type LikedPostsPageQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type LikedPostsPageQuery = { viewer: { __typename: 'Viewer', id: string, likedPosts: { __typename: 'LikedPostConnection', edges: Array<{ __typename: 'LikedPostEdge', cursor: string, node: (
          { __typename: 'Post', id: string }
          & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment;'PostDetailsFragment': PostDetailsFragment } }
        ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type MentionsPageQueryVariables = Exact<{ [key: string]: never; }>;


export type MentionsPageQuery = { viewer: { __typename: 'Viewer', id: string, mentionsTimeline: (
      { __typename: 'Timeline', id: string }
      & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment;'TimelineUnreadFragment': TimelineUnreadFragment } }
    ) } | null };

export type FollowersPageQueryVariables = Exact<{
  username: string;
  after?: string | null | undefined;
}>;


export type FollowersPageQuery = { user: (
    { __typename: 'User', id: string, username: string, people: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
          { __typename: 'User', id: string }
          & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
        ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } }
    & { ' $fragmentRefs'?: { 'ProfileHeader_UserFragment': ProfileHeader_UserFragment } }
  ) | null };

export type FollowingPageQueryVariables = Exact<{
  username: string;
  after?: string | null | undefined;
}>;


export type FollowingPageQuery = { user: (
    { __typename: 'User', id: string, username: string, people: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
          { __typename: 'User', id: string }
          & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
        ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } }
    & { ' $fragmentRefs'?: { 'ProfileHeader_UserFragment': ProfileHeader_UserFragment } }
  ) | null };

export type FollowersYouKnowPageQueryVariables = Exact<{
  username: string;
  after?: string | null | undefined;
}>;


export type FollowersYouKnowPageQuery = { user: (
    { __typename: 'User', id: string, username: string, people: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
          { __typename: 'User', id: string }
          & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
        ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } }
    & { ' $fragmentRefs'?: { 'ProfileHeader_UserFragment': ProfileHeader_UserFragment } }
  ) | null };

export type CommonFollowersPageQueryVariables = Exact<{
  username: string;
  after?: string | null | undefined;
  with: string;
}>;


export type CommonFollowersPageQuery = { user: (
    { __typename: 'User', id: string, username: string, people: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
          { __typename: 'User', id: string }
          & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
        ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } }
    & { ' $fragmentRefs'?: { 'ProfileHeader_UserFragment': ProfileHeader_UserFragment } }
  ) | null };

export type NewestUsersPageQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type NewestUsersPageQuery = { newestUsers: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
        { __typename: 'User', id: string }
        & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
      ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type ProfilePageQueryVariables = Exact<{
  username: string;
  includeReplies: boolean;
}>;


export type ProfilePageQuery = { user: (
    { __typename: 'User', id: string, timeline: (
      { __typename: 'Timeline', id: string }
      & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment } }
    ) }
    & { ' $fragmentRefs'?: { 'ProfileHeader_UserFragment': ProfileHeader_UserFragment } }
  ) | null };

export type PublicPageQueryVariables = Exact<{ [key: string]: never; }>;


export type PublicPageQuery = { publicTimeline: (
    { __typename: 'Timeline', id: string }
    & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment } }
  ) | null };

export type QuotesPageQueryVariables = Exact<{
  postId: string;
  after?: string | null | undefined;
}>;


export type QuotesPageQuery = { node:
    | { __typename: 'User', id: string }
    | { __typename: 'Post', id: string, quotes: { __typename: 'QuoteConnection', edges: Array<{ __typename: 'PostEdge', cursor: string, node: (
            { __typename: 'Post', id: string }
            & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment;'PostDetailsFragment': PostDetailsFragment } }
          ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } }
    | { __typename: 'Tag', id: string }
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null };

export type TagPageQueryVariables = Exact<{
  name: string;
}>;


export type TagPageQuery = { tag: { __typename: 'Tag', id: string, name: string, timeline: (
      { __typename: 'Timeline', id: string }
      & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment } }
    ) } | null };

export type FollowButton_UserFragment = { __typename: 'User', id: string, username: string, displayName: string, viewerFollows: boolean } & { ' $fragmentName'?: 'FollowButton_UserFragment' };

export type FollowUserMutationVariables = Exact<{
  userId: string;
}>;


export type FollowUserMutation = { followUser: { __typename: 'FollowPayload', user: { __typename: 'User', id: string, viewerFollows: boolean, viewerHidesReposts: boolean, followerCount: number } | null, viewer: { __typename: 'Viewer', id: string, user: { __typename: 'User', id: string, followingCount: number } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type UnfollowUserMutationVariables = Exact<{
  userId: string;
}>;


export type UnfollowUserMutation = { unfollowUser: { __typename: 'FollowPayload', user: { __typename: 'User', id: string, viewerFollows: boolean, viewerHidesReposts: boolean, followerCount: number } | null, viewer: { __typename: 'Viewer', id: string, user: { __typename: 'User', id: string, followingCount: number } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type NewestUsersQueryVariables = Exact<{ [key: string]: never; }>;


export type NewestUsersQuery = { newestUsers: { __typename: 'UserConnection', edges: Array<{ __typename: 'UserEdge', node: (
        { __typename: 'User', id: string }
        & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
      ) }> } | null };

export type PersonRow_UserFragment = (
  { __typename: 'User', id: string, username: string, displayName: string, bio: string }
  & { ' $fragmentRefs'?: { 'FollowButton_UserFragment': FollowButton_UserFragment } }
) & { ' $fragmentName'?: 'PersonRow_UserFragment' };

export type ProfileHeader_UserFragment = (
  { __typename: 'User', id: string, username: string, displayName: string, bio: string, createdAt: string, postCount: number, followerCount: number, followingCount: number, followsViewer: boolean, bioEntities: Array<
    | { __typename: 'TextLink', url: string, start: number, end: number }
    | { __typename: 'TextMention', start: number, end: number, user: { __typename: 'User', id: string, username: string } }
    | { __typename: 'TextHashtag', start: number, end: number }
  >, known: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', node: { __typename: 'User', id: string, displayName: string } }> } }
  & { ' $fragmentRefs'?: { 'FollowButton_UserFragment': FollowButton_UserFragment;'ProfileMenu_UserFragment': ProfileMenu_UserFragment } }
) & { ' $fragmentName'?: 'ProfileHeader_UserFragment' };

export type ProfileMenu_UserFragment = { __typename: 'User', id: string, displayName: string, viewerFollows: boolean, viewerHidesReposts: boolean } & { ' $fragmentName'?: 'ProfileMenu_UserFragment' };

export type ShowRepostsMutationVariables = Exact<{
  userId: string;
  showReposts: boolean;
}>;


export type ShowRepostsMutation = { followUser: { __typename: 'FollowPayload', user: { __typename: 'User', id: string, viewerFollows: boolean, viewerHidesReposts: boolean } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type PeopleList_UsersFragment = { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
      { __typename: 'User', id: string }
      & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
    ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } & { ' $fragmentName'?: 'PeopleList_UsersFragment' };

export type FindUsersQueryVariables = Exact<{
  query: string;
}>;


export type FindUsersQuery = { findUsers: Array<{ __typename: 'User', id: string, username: string, displayName: string }> | null };

export type QuotedDraftQueryVariables = Exact<{
  postId: string;
}>;


export type QuotedDraftQuery = { node:
    | { __typename: 'User', id: string }
    | (
      { __typename: 'Post', id: string }
      & { ' $fragmentRefs'?: { 'QuotedContentFragment': QuotedContentFragment } }
    )
    | { __typename: 'Tag', id: string }
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null };

export type LogoutMutationVariables = Exact<{ [key: string]: never; }>;


export type LogoutMutation = { logout: { __typename: 'LogoutPayload', userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type LogoutEverywhereMutationVariables = Exact<{ [key: string]: never; }>;


export type LogoutEverywhereMutation = { logoutEverywhere: { __typename: 'LogoutPayload', userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type SettingsPageQueryVariables = Exact<{ [key: string]: never; }>;


export type SettingsPageQuery = { viewer: { __typename: 'Viewer', id: string, user: { __typename: 'User', id: string, username: string, displayName: string, bio: string } } | null };

export type UpdateProfileMutationVariables = Exact<{
  input: UpdateProfileInput;
}>;


export type UpdateProfileMutation = { updateProfile: { __typename: 'UpdateProfilePayload', user: { __typename: 'User', id: string, displayName: string, bio: string } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type ChangePasswordMutationVariables = Exact<{
  input: ChangePasswordInput;
}>;


export type ChangePasswordMutation = { changePassword: { __typename: 'SessionPayload', user: { __typename: 'User', id: string } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type DeleteAccountMutationVariables = Exact<{
  password: string;
}>;


export type DeleteAccountMutation = { deleteAccount: { __typename: 'DeleteAccountPayload', deletedUserId: string | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type SessionsQueryVariables = Exact<{ [key: string]: never; }>;


export type SessionsQuery = { viewer: { __typename: 'Viewer', id: string, sessions: Array<{ __typename: 'Session', id: string, createdAt: string, lastSeenAt: string, userAgent: string | null, current: boolean }> } | null };

export type RevokeSessionMutationVariables = Exact<{
  sessionId: string;
}>;


export type RevokeSessionMutation = { revokeSession: { __typename: 'RevokeSessionPayload', revokedSessionId: string | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type LoginMutationVariables = Exact<{
  input: LoginInput;
}>;


export type LoginMutation = { login: { __typename: 'SessionPayload', user: { __typename: 'User', id: string } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type RegisterMutationVariables = Exact<{
  input: RegisterInput;
}>;


export type RegisterMutation = { register: { __typename: 'SessionPayload', user: { __typename: 'User', id: string } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };
