package graph

import (
	"context"

	"retwis/internal/retwis"
)

// faultyResolvers are resolvers whose results [faults] spoils.
type faultyResolvers struct {
	ResolverRoot
	*faults
}

func (r faultyResolvers) List() ListResolver { return spoiledList{r.ResolverRoot.List(), r.faults} }

func (r faultyResolvers) Mutation() MutationResolver {
	return spoiledMutation{r.ResolverRoot.Mutation(), r.faults}
}

func (r faultyResolvers) Post() PostResolver { return spoiledPost{r.ResolverRoot.Post(), r.faults} }

func (r faultyResolvers) Query() QueryResolver {
	return spoiledQuery{r.ResolverRoot.Query(), r.faults}
}

func (r faultyResolvers) Timeline() TimelineResolver {
	return spoiledTimeline{r.ResolverRoot.Timeline(), r.faults}
}

func (r faultyResolvers) User() UserResolver { return spoiledUser{r.ResolverRoot.User(), r.faults} }

func (r faultyResolvers) Viewer() ViewerResolver {
	return spoiledViewer{r.ResolverRoot.Viewer(), r.faults}
}

type (
	spoiledList struct {
		ListResolver
		*faults
	}
	spoiledMutation struct {
		MutationResolver
		*faults
	}
	spoiledPost struct {
		PostResolver
		*faults
	}
	spoiledQuery struct {
		QueryResolver
		*faults
	}
	spoiledTimeline struct {
		TimelineResolver
		*faults
	}
	spoiledUser struct {
		UserResolver
		*faults
	}
	spoiledViewer struct {
		ViewerResolver
		*faults
	}
)

func (r spoiledList) Owner(ctx context.Context, obj *retwis.List) (*retwis.User, error) {
	return spoil(r.faults, "List.Owner", obj, func() (*retwis.User, error) { return r.ListResolver.Owner(ctx, obj) })
}

func (r spoiledList) Members(ctx context.Context, obj *retwis.List, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*UserConnection, error) {
	return spoil(r.faults, "List.Members", obj, func() (*UserConnection, error) { return r.ListResolver.Members(ctx, obj, first, after, last, before) })
}

func (r spoiledList) HasMember(ctx context.Context, obj *retwis.List, userID string) (bool, error) {
	return spoil(r.faults, "List.HasMember", obj, func() (bool, error) { return r.ListResolver.HasMember(ctx, obj, userID) })
}

func (r spoiledList) Timeline(ctx context.Context, obj *retwis.List) (*retwis.Timeline, error) {
	return spoil(r.faults, "List.Timeline", obj, func() (*retwis.Timeline, error) { return r.ListResolver.Timeline(ctx, obj) })
}

func (r spoiledMutation) Register(ctx context.Context, input RegisterInput) (*SessionPayload, error) {
	return spoil(r.faults, "Mutation.Register", nil, func() (*SessionPayload, error) { return r.MutationResolver.Register(ctx, input) })
}

func (r spoiledMutation) Login(ctx context.Context, input LoginInput) (*SessionPayload, error) {
	return spoil(r.faults, "Mutation.Login", nil, func() (*SessionPayload, error) { return r.MutationResolver.Login(ctx, input) })
}

func (r spoiledMutation) Logout(ctx context.Context) (*LogoutPayload, error) {
	return spoil(r.faults, "Mutation.Logout", nil, func() (*LogoutPayload, error) { return r.MutationResolver.Logout(ctx) })
}

func (r spoiledMutation) LogoutEverywhere(ctx context.Context) (*LogoutPayload, error) {
	return spoil(r.faults, "Mutation.LogoutEverywhere", nil, func() (*LogoutPayload, error) { return r.MutationResolver.LogoutEverywhere(ctx) })
}

func (r spoiledMutation) ChangePassword(ctx context.Context, input ChangePasswordInput) (*SessionPayload, error) {
	return spoil(r.faults, "Mutation.ChangePassword", nil, func() (*SessionPayload, error) { return r.MutationResolver.ChangePassword(ctx, input) })
}

func (r spoiledMutation) RevokeSession(ctx context.Context, input RevokeSessionInput) (*RevokeSessionPayload, error) {
	return spoil(r.faults, "Mutation.RevokeSession", nil, func() (*RevokeSessionPayload, error) { return r.MutationResolver.RevokeSession(ctx, input) })
}

func (r spoiledMutation) DeleteAccount(ctx context.Context, input DeleteAccountInput) (*DeleteAccountPayload, error) {
	return spoil(r.faults, "Mutation.DeleteAccount", nil, func() (*DeleteAccountPayload, error) { return r.MutationResolver.DeleteAccount(ctx, input) })
}

func (r spoiledMutation) UpdateProfile(ctx context.Context, input retwis.ProfileChange) (*UpdateProfilePayload, error) {
	return spoil(r.faults, "Mutation.UpdateProfile", nil, func() (*UpdateProfilePayload, error) { return r.MutationResolver.UpdateProfile(ctx, input) })
}

func (r spoiledMutation) CreatePost(ctx context.Context, input CreatePostInput) (*CreatePostPayload, error) {
	return spoil(r.faults, "Mutation.CreatePost", nil, func() (*CreatePostPayload, error) { return r.MutationResolver.CreatePost(ctx, input) })
}

func (r spoiledMutation) DeletePost(ctx context.Context, input DeletePostInput) (*DeletePostPayload, error) {
	return spoil(r.faults, "Mutation.DeletePost", nil, func() (*DeletePostPayload, error) { return r.MutationResolver.DeletePost(ctx, input) })
}

func (r spoiledMutation) FollowUser(ctx context.Context, input FollowUserInput) (*FollowPayload, error) {
	return spoil(r.faults, "Mutation.FollowUser", nil, func() (*FollowPayload, error) { return r.MutationResolver.FollowUser(ctx, input) })
}

func (r spoiledMutation) UnfollowUser(ctx context.Context, input UnfollowUserInput) (*FollowPayload, error) {
	return spoil(r.faults, "Mutation.UnfollowUser", nil, func() (*FollowPayload, error) { return r.MutationResolver.UnfollowUser(ctx, input) })
}

func (r spoiledMutation) CreateList(ctx context.Context, input CreateListInput) (*CreateListPayload, error) {
	return spoil(r.faults, "Mutation.CreateList", nil, func() (*CreateListPayload, error) { return r.MutationResolver.CreateList(ctx, input) })
}

func (r spoiledMutation) RenameList(ctx context.Context, input RenameListInput) (*RenameListPayload, error) {
	return spoil(r.faults, "Mutation.RenameList", nil, func() (*RenameListPayload, error) { return r.MutationResolver.RenameList(ctx, input) })
}

func (r spoiledMutation) DeleteList(ctx context.Context, input DeleteListInput) (*DeleteListPayload, error) {
	return spoil(r.faults, "Mutation.DeleteList", nil, func() (*DeleteListPayload, error) { return r.MutationResolver.DeleteList(ctx, input) })
}

func (r spoiledMutation) AddListMember(ctx context.Context, input AddListMemberInput) (*AddListMemberPayload, error) {
	return spoil(r.faults, "Mutation.AddListMember", nil, func() (*AddListMemberPayload, error) { return r.MutationResolver.AddListMember(ctx, input) })
}

func (r spoiledMutation) RemoveListMember(ctx context.Context, input RemoveListMemberInput) (*RemoveListMemberPayload, error) {
	return spoil(r.faults, "Mutation.RemoveListMember", nil, func() (*RemoveListMemberPayload, error) { return r.MutationResolver.RemoveListMember(ctx, input) })
}

func (r spoiledPost) Author(ctx context.Context, obj *retwis.Post) (*retwis.User, error) {
	return spoil(r.faults, "Post.Author", obj, func() (*retwis.User, error) { return r.PostResolver.Author(ctx, obj) })
}

func (r spoiledPost) Mentions(ctx context.Context, obj *retwis.Post) ([]*retwis.User, error) {
	return spoil(r.faults, "Post.Mentions", obj, func() ([]*retwis.User, error) { return r.PostResolver.Mentions(ctx, obj) })
}

func (r spoiledPost) InReplyTo(ctx context.Context, obj *retwis.Post) (*retwis.Post, error) {
	return spoil(r.faults, "Post.InReplyTo", obj, func() (*retwis.Post, error) { return r.PostResolver.InReplyTo(ctx, obj) })
}

func (r spoiledPost) QuotedPost(ctx context.Context, obj *retwis.Post) (*PostReference, error) {
	return spoil(r.faults, "Post.QuotedPost", obj, func() (*PostReference, error) { return r.PostResolver.QuotedPost(ctx, obj) })
}

func (r spoiledPost) QuoteCount(ctx context.Context, obj *retwis.Post) (int, error) {
	return spoil(r.faults, "Post.QuoteCount", obj, func() (int, error) { return r.PostResolver.QuoteCount(ctx, obj) })
}

func (r spoiledPost) InReplyToUser(ctx context.Context, obj *retwis.Post) (*retwis.User, error) {
	return spoil(r.faults, "Post.InReplyToUser", obj, func() (*retwis.User, error) { return r.PostResolver.InReplyToUser(ctx, obj) })
}

func (r spoiledPost) ReplyCount(ctx context.Context, obj *retwis.Post) (int, error) {
	return spoil(r.faults, "Post.ReplyCount", obj, func() (int, error) { return r.PostResolver.ReplyCount(ctx, obj) })
}

func (r spoiledPost) LikeCount(ctx context.Context, obj *retwis.Post) (int, error) {
	return spoil(r.faults, "Post.LikeCount", obj, func() (int, error) { return r.PostResolver.LikeCount(ctx, obj) })
}

func (r spoiledPost) ViewerHasLiked(ctx context.Context, obj *retwis.Post) (bool, error) {
	return spoil(r.faults, "Post.ViewerHasLiked", obj, func() (bool, error) { return r.PostResolver.ViewerHasLiked(ctx, obj) })
}

func (r spoiledQuery) Thread(ctx context.Context, id string) (*retwis.Thread, error) {
	return spoil(r.faults, "Query.Thread", nil, func() (*retwis.Thread, error) { return r.QueryResolver.Thread(ctx, id) })
}

func (r spoiledQuery) Node(ctx context.Context, id string) (Node, error) {
	return spoil(r.faults, "Query.Node", nil, func() (Node, error) { return r.QueryResolver.Node(ctx, id) })
}

func (r spoiledQuery) Nodes(ctx context.Context, ids []string) ([]Node, error) {
	return spoil(r.faults, "Query.Nodes", nil, func() ([]Node, error) { return r.QueryResolver.Nodes(ctx, ids) })
}

func (r spoiledQuery) Viewer(ctx context.Context) (*retwis.Viewer, error) {
	return spoil(r.faults, "Query.Viewer", nil, func() (*retwis.Viewer, error) { return r.QueryResolver.Viewer(ctx) })
}

func (r spoiledQuery) User(ctx context.Context, username string) (*retwis.User, error) {
	return spoil(r.faults, "Query.User", nil, func() (*retwis.User, error) { return r.QueryResolver.User(ctx, username) })
}

func (r spoiledQuery) RateLimit(ctx context.Context) (*RateLimitPayload, error) {
	return spoil(r.faults, "Query.RateLimit", nil, func() (*RateLimitPayload, error) { return r.QueryResolver.RateLimit(ctx) })
}

func (r spoiledQuery) PublicTimeline(ctx context.Context) (*retwis.Timeline, error) {
	return spoil(r.faults, "Query.PublicTimeline", nil, func() (*retwis.Timeline, error) { return r.QueryResolver.PublicTimeline(ctx) })
}

func (r spoiledQuery) NewestUsers(ctx context.Context, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*UserConnection, error) {
	return spoil(r.faults, "Query.NewestUsers", nil, func() (*UserConnection, error) { return r.QueryResolver.NewestUsers(ctx, first, after, last, before) })
}

func (r spoiledQuery) SearchUsers(ctx context.Context, prefix string, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*UserConnection, error) {
	return spoil(r.faults, "Query.SearchUsers", nil, func() (*UserConnection, error) {
		return r.QueryResolver.SearchUsers(ctx, prefix, first, after, last, before)
	})
}

func (r spoiledQuery) FindUsers(ctx context.Context, query string) ([]*retwis.User, error) {
	return spoil(r.faults, "Query.FindUsers", nil, func() ([]*retwis.User, error) { return r.QueryResolver.FindUsers(ctx, query) })
}

func (r spoiledTimeline) Kind(ctx context.Context, obj *retwis.Timeline) (retwis.TimelineKind, error) {
	return spoil(r.faults, "Timeline.Kind", obj, func() (retwis.TimelineKind, error) { return r.TimelineResolver.Kind(ctx, obj) })
}

func (r spoiledTimeline) Owner(ctx context.Context, obj *retwis.Timeline) (*retwis.User, error) {
	return spoil(r.faults, "Timeline.Owner", obj, func() (*retwis.User, error) { return r.TimelineResolver.Owner(ctx, obj) })
}

func (r spoiledTimeline) Posts(ctx context.Context, obj *retwis.Timeline, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*PostConnection, error) {
	return spoil(r.faults, "Timeline.Posts", obj, func() (*PostConnection, error) { return r.TimelineResolver.Posts(ctx, obj, first, after, last, before) })
}

func (r spoiledUser) Timeline(ctx context.Context, obj *retwis.User, includeReplies *bool) (*retwis.Timeline, error) {
	return spoil(r.faults, "User.Timeline", obj, func() (*retwis.Timeline, error) { return r.UserResolver.Timeline(ctx, obj, includeReplies) })
}

func (r spoiledUser) Followers(ctx context.Context, obj *retwis.User, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*UserConnection, error) {
	return spoil(r.faults, "User.Followers", obj, func() (*UserConnection, error) { return r.UserResolver.Followers(ctx, obj, first, after, last, before) })
}

func (r spoiledUser) Following(ctx context.Context, obj *retwis.User, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*UserConnection, error) {
	return spoil(r.faults, "User.Following", obj, func() (*UserConnection, error) { return r.UserResolver.Following(ctx, obj, first, after, last, before) })
}

func (r spoiledUser) CommonFollowers(ctx context.Context, obj *retwis.User, with string, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*UserConnection, error) {
	return spoil(r.faults, "User.CommonFollowers", obj, func() (*UserConnection, error) {
		return r.UserResolver.CommonFollowers(ctx, obj, with, first, after, last, before)
	})
}

func (r spoiledUser) FollowersYouKnow(ctx context.Context, obj *retwis.User, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*UserConnection, error) {
	return spoil(r.faults, "User.FollowersYouKnow", obj, func() (*UserConnection, error) {
		return r.UserResolver.FollowersYouKnow(ctx, obj, first, after, last, before)
	})
}

func (r spoiledUser) ViewerFollows(ctx context.Context, obj *retwis.User) (bool, error) {
	return spoil(r.faults, "User.ViewerFollows", obj, func() (bool, error) { return r.UserResolver.ViewerFollows(ctx, obj) })
}

func (r spoiledUser) FollowsViewer(ctx context.Context, obj *retwis.User) (bool, error) {
	return spoil(r.faults, "User.FollowsViewer", obj, func() (bool, error) { return r.UserResolver.FollowsViewer(ctx, obj) })
}

func (r spoiledUser) ViewerHidesReposts(ctx context.Context, obj *retwis.User) (bool, error) {
	return spoil(r.faults, "User.ViewerHidesReposts", obj, func() (bool, error) { return r.UserResolver.ViewerHidesReposts(ctx, obj) })
}

func (r spoiledViewer) ID(ctx context.Context, obj *retwis.Viewer) (string, error) {
	return spoil(r.faults, "Viewer.ID", obj, func() (string, error) { return r.ViewerResolver.ID(ctx, obj) })
}

func (r spoiledViewer) User(ctx context.Context, obj *retwis.Viewer) (*retwis.User, error) {
	return spoil(r.faults, "Viewer.User", obj, func() (*retwis.User, error) { return r.ViewerResolver.User(ctx, obj) })
}

func (r spoiledViewer) HomeTimeline(ctx context.Context, obj *retwis.Viewer) (*retwis.Timeline, error) {
	return spoil(r.faults, "Viewer.HomeTimeline", obj, func() (*retwis.Timeline, error) { return r.ViewerResolver.HomeTimeline(ctx, obj) })
}

func (r spoiledViewer) MentionsTimeline(ctx context.Context, obj *retwis.Viewer) (*retwis.Timeline, error) {
	return spoil(r.faults, "Viewer.MentionsTimeline", obj, func() (*retwis.Timeline, error) { return r.ViewerResolver.MentionsTimeline(ctx, obj) })
}

func (r spoiledViewer) Lists(ctx context.Context, obj *retwis.Viewer, first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (*ListConnection, error) {
	return spoil(r.faults, "Viewer.Lists", obj, func() (*ListConnection, error) { return r.ViewerResolver.Lists(ctx, obj, first, after, last, before) })
}

func (r spoiledViewer) Sessions(ctx context.Context, obj *retwis.Viewer) ([]*retwis.Session, error) {
	return spoil(r.faults, "Viewer.Sessions", obj, func() ([]*retwis.Session, error) { return r.ViewerResolver.Sessions(ctx, obj) })
}
