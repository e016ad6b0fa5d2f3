// Generated from schema.graphqls and the .graphql files by `npm run codegen`.
import type { TimelinePostFragment, TimelineWindowFragment } from "@retwis/client";
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** A new account. */
export type RegisterInput = {
  /** 3 to 20 letters a to z in either case, digits and underscores, unique without regard to case. Some names are reserved. */
  username: string;
  /** 8 to 256 characters. */
  password: string;
  /** The name to show; the username when it is left out. */
  displayName?: string | null | undefined;
};

/** What to log in with. */
export type LoginInput = {
  /** The username, in upper or lower case. */
  username: string;
  /** The password. */
  password: string;
};

/** A change of password. */
export type ChangePasswordInput = {
  /** The password until now. */
  currentPassword: string;
  /** The password from now on, 8 to 256 characters. */
  newPassword: string;
};

/** Changes to a profile. A field that is left out, or null, stays as it is. */
export type UpdateProfileInput = {
  /** The name to show. */
  displayName?: string | null | undefined;
  /** What the user tells about themselves; the empty string clears it. */
  bio?: string | null | undefined;
};

/** A new list. */
export type CreateListInput = {
  /** What to call it: 1 to 50 characters as a reader counts them, on one line. */
  name: string;
  /**
   * 1 to 64 printable ASCII characters of the client's choice. Making a list again with the same key, within
   * a day, makes no second list but returns the first as it is by then: use it to retry when an answer was
   * lost. The key of a list that was deleted is `INVALID`.
   */
  idempotencyKey?: string | null | undefined;
};

/** Another name for a list. */
export type RenameListInput = {
  /** The id of the list. */
  listId: string;
  /** What to call it: 1 to 50 characters as a reader counts them, on one line. */
  name: string;
};

/** The kinds of failure that a person can mend. */
export type UserErrorCode =
  /** Nothing visible was given where something is needed. */
  | 'BLANK'
  /** It is shorter than allowed. */
  | 'TOO_SHORT'
  /** It is longer than allowed. */
  | 'TOO_LONG'
  /** It has a form or holds characters that are not allowed, or contradicts an earlier use of the same key. */
  | 'INVALID'
  /** Somebody else has it already. */
  | 'TAKEN'
  /** There is no such thing. */
  | 'NOT_FOUND'
  /** The name or the password is wrong. */
  | 'WRONG_CREDENTIALS'
  /** Nobody can follow themselves. */
  | 'SELF_FOLLOW'
  /** The viewer has as many as one can have. */
  | 'LIMIT_REACHED'
  /** It belongs to somebody else. */
  | 'NOT_OWNER';

export type ListHeader_ListFragment = { __typename: 'List', id: string, name: string, size: { __typename: 'UserConnection', totalCount: number } } & { ' $fragmentName'?: 'ListHeader_ListFragment' };

export type ListsPageQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ListsPageQuery = { viewer: { __typename: 'Viewer', id: string, lists: { __typename: 'ListConnection', edges: Array<{ __typename: 'ListEdge', cursor: string, node: { __typename: 'List', id: string, name: string, size: { __typename: 'UserConnection', totalCount: number } } }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

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
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string, name: string, timeline: (
        { __typename: 'Timeline', id: string }
        & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment } }
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
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string, name: string, people: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
            { __typename: 'User', id: string }
            & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
          ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } }, size: { __typename: 'UserConnection', totalCount: number } }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null };

export type CreateListMutationVariables = Exact<{
  input: CreateListInput;
}>;


export type CreateListMutation = { createList: { __typename: 'CreateListPayload', list: { __typename: 'List', id: string, name: string, size: { __typename: 'UserConnection', totalCount: number } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

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


export type AddListMemberMutation = { addListMember: { __typename: 'AddListMemberPayload', list: { __typename: 'List', id: string, hasMember: boolean, name: string, size: { __typename: 'UserConnection', totalCount: number } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type RemoveListMemberMutationVariables = Exact<{
  listId: string;
  userId: string;
}>;


export type RemoveListMemberMutation = { removeListMember: { __typename: 'RemoveListMemberPayload', list: { __typename: 'List', id: string, hasMember: boolean, name: string, size: { __typename: 'UserConnection', totalCount: number } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type FindUserQueryVariables = Exact<{
  username: string;
}>;


export type FindUserQuery = { user: { __typename: 'User', id: string, displayName: string } | null };

export type HomePageQueryVariables = Exact<{ [key: string]: never; }>;


export type HomePageQuery = { viewer: { __typename: 'Viewer', id: string, homeTimeline: (
      { __typename: 'Timeline', id: string }
      & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment } }
    ) } | null };

export type MentionsPageQueryVariables = Exact<{ [key: string]: never; }>;


export type MentionsPageQuery = { viewer: { __typename: 'Viewer', id: string, mentionsTimeline: (
      { __typename: 'Timeline', id: string }
      & { ' $fragmentRefs'?: { 'TimelineWindowFragment': TimelineWindowFragment } }
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

export type PostPageQueryVariables = Exact<{
  id: string;
}>;


export type PostPageQuery = { node:
    | { __typename: 'User', id: string }
    | (
      { __typename: 'Post', id: string, author: (
        { __typename: 'User', id: string, displayName: string, username: string }
        & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
      ) }
      & { ' $fragmentRefs'?: { 'TimelinePostFragment': TimelinePostFragment } }
    )
    | { __typename: 'Timeline', id: string }
    | { __typename: 'List', id: string }
    | { __typename: 'Viewer', id: string }
    | { __typename: 'Session', id: string }
   | null };

export type ProfilePageQueryVariables = Exact<{
  username: string;
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

export type FollowButton_UserFragment = { __typename: 'User', id: string, username: string, displayName: string, viewerFollows: boolean } & { ' $fragmentName'?: 'FollowButton_UserFragment' };

export type FollowUserMutationVariables = Exact<{
  userId: string;
}>;


export type FollowUserMutation = { followUser: { __typename: 'FollowPayload', user: { __typename: 'User', id: string, viewerFollows: boolean, followerCount: number } | null, viewer: { __typename: 'Viewer', id: string, user: { __typename: 'User', id: string, followingCount: number } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type UnfollowUserMutationVariables = Exact<{
  userId: string;
}>;


export type UnfollowUserMutation = { unfollowUser: { __typename: 'FollowPayload', user: { __typename: 'User', id: string, viewerFollows: boolean, followerCount: number } | null, viewer: { __typename: 'Viewer', id: string, user: { __typename: 'User', id: string, followingCount: number } } | null, userErrors: Array<{ __typename: 'UserError', code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

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
  { __typename: 'User', id: string, username: string, displayName: string, bio: string, createdAt: string, postCount: number, followerCount: number, followingCount: number, followsViewer: boolean, known: { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', node: { __typename: 'User', id: string, displayName: string } }> } }
  & { ' $fragmentRefs'?: { 'FollowButton_UserFragment': FollowButton_UserFragment } }
) & { ' $fragmentName'?: 'ProfileHeader_UserFragment' };

export type PeopleList_UsersFragment = { __typename: 'UserConnection', totalCount: number, edges: Array<{ __typename: 'UserEdge', cursor: string, node: (
      { __typename: 'User', id: string }
      & { ' $fragmentRefs'?: { 'PersonRow_UserFragment': PersonRow_UserFragment } }
    ) }>, pageInfo: { __typename: 'PageInfo', hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } & { ' $fragmentName'?: 'PeopleList_UsersFragment' };

export type SearchUsersQueryVariables = Exact<{
  prefix: string;
  first: number;
}>;


export type SearchUsersQuery = { searchUsers: { __typename: 'UserConnection', edges: Array<{ __typename: 'UserEdge', node: { __typename: 'User', id: string, username: string, displayName: string } }> } | null };

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
