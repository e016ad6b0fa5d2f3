package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// quickResolvers are the resolvers that wait for nothing, so that it is not worth a
// goroutine to call them side by side.
func quickResolvers() map[string]bool {
	return map[string]bool{
		"Query.viewer":            true,
		"Query.publicTimeline":    true,
		"Viewer.id":               true,
		"Viewer.homeTimeline":     true,
		"Viewer.mentionsTimeline": true,
		"User.timeline":           true,
		"Timeline.kind":           true,
		"List.timeline":           true,
	}
}

// hint tells the loaders of a context what a resolver is going to ask them for. When all
// objects of a list have given theirs, the first one to ask has the answers for all read
// at once.
type hint func(ctx context.Context, obj any)

// loaderHints are the hints of those fields whose resolvers ask nobody but loaders.
func loaderHints() map[string]hint {
	return map[string]hint{
		"Post.author": func(ctx context.Context, obj any) {
			loaders.From(ctx).Authors().Announce(obj.(*retwis.Post).AuthorID)
		},
		"Post.mentions": func(ctx context.Context, obj any) {
			users := loaders.From(ctx).Authors()
			for _, id := range obj.(*retwis.Post).Mentions {
				users.Announce(id)
			}
		},
		"User.viewerFollows": func(ctx context.Context, obj any) {
			loaders.From(ctx).ViewerFollows.Announce(obj.(*retwis.User).ID)
		},
		"User.followsViewer": func(ctx context.Context, obj any) {
			loaders.From(ctx).FollowsViewer.Announce(obj.(*retwis.User).ID)
		},
		"Viewer.user": func(ctx context.Context, obj any) {
			loaders.From(ctx).Users.Announce(obj.(*retwis.Viewer).ID)
		},
		"List.owner": func(ctx context.Context, obj any) {
			loaders.From(ctx).Users.Announce(obj.(*retwis.List).OwnerID)
		},
		"Timeline.owner": func(ctx context.Context, obj any) {
			if id := obj.(*retwis.Timeline).ID; id.Kind == retwis.ListTimeline {
				loaders.From(ctx).Lists.Announce(id.List())
			} else if id.Owner != 0 {
				loaders.From(ctx).Users.Announce(id.Owner)
			}
		},
	}
}

// counts are the fields of users that change without the user, and often: an operation
// with one of them reads authors anew.
func counts() map[string]bool {
	return map[string]bool{"User.postCount": true, "User.followerCount": true, "User.followingCount": true}
}

// aheadOf are fields of users that are known by the id alone: they are read while the
// author is, and not after. What is read is remembered, failures too.
func aheadOf() map[string]func(ctx context.Context, id retwis.UserID) {
	return map[string]func(context.Context, retwis.UserID){
		"viewerFollows": func(ctx context.Context, id retwis.UserID) { _, _ = loaders.From(ctx).ViewerFollows.Load(ctx, id) },
		"followsViewer": func(ctx context.Context, id retwis.UserID) { _, _ = loaders.From(ctx).FollowsViewer.Load(ctx, id) },
	}
}
