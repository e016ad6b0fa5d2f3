package graph

import (
	"context"

	"retwis/graph/exec"
	"retwis/graph/loaders"
	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// Flags of operations, which decide what loaders read.
const (
	selectsCounts exec.Flags = 1 << iota // the operation selects a count of users
	selectsNamed
	selectsUnread
	selectsViewer
)

// What each field that a response resolves counts for, beyond the first thousand.
const (
	rowsPerField  = 2   // one takes up to 7 µs
	bytesPerField = 200 // until the response is complete
)

// hooks returns what plans have to know about the fields of the schema.
func hooks() exec.Hooks {
	return exec.Hooks{
		Immediate: immediateFields(),
		Announce:  announcedFields(),
		Prefetch: map[string]map[string]func(context.Context, any){
			// The id of an author is known from the post. The loaders remember the result, failures included.
			"Post.author": {
				"viewerFollows": func(ctx context.Context, post any) {
					_, _ = loaders.From(ctx).ViewerFollows.Load(ctx, post.(*retwis.Post).AuthorID)
				},
				"followsViewer": func(ctx context.Context, post any) {
					_, _ = loaders.From(ctx).FollowsViewer.Load(ctx, post.(*retwis.Post).AuthorID)
				},
				"viewerHidesReposts": func(ctx context.Context, post any) {
					_, _ = loaders.From(ctx).ViewerHides.Load(ctx, post.(*retwis.Post).AuthorID)
				},
			},
		},
		Plan: func(ctx context.Context, small bool) (func(int), error) { return cost.Of(ctx).Plan(ctx, small) },
		Flags: map[string]exec.Flags{
			"User.postCount":         selectsCounts,
			"User.followerCount":     selectsCounts,
			"User.followingCount":    selectsCounts,
			"Post.mentions":          selectsNamed,
			"Post.entities":          selectsNamed,
			"Post.inReplyToUser":     selectsNamed,
			"Post.viewerHasLiked":    selectsViewer,
			"Post.viewerHasReposted": selectsViewer,
			"Timeline.marker":        selectsUnread,
			"Timeline.unreadCount":   selectsUnread,
		},
		Begin: func(ctx context.Context, flags exec.Flags) {
			loaders.From(ctx).Select(loaders.Selection{
				NoCounts: flags&selectsCounts == 0,
				Named:    flags&selectsNamed != 0,
				NoUnread: flags&selectsUnread == 0,
				NoViewer: flags&selectsViewer == 0,
			})
		},
		Stopped: func(ctx context.Context) error { return cost.Of(ctx).Err() },
		Added: func(ctx context.Context, fields int) error {
			if err := cost.Of(ctx).Keep(bytesPerField * fields); err != nil {
				return err //nolint:wrapcheck // for the client
			}
			return cost.Walk(ctx, rowsPerField*fields)
		},
		Written: func(ctx context.Context, length int) error { return cost.Of(ctx).Written(length) },
	}
}

// immediateFields returns the fields whose resolvers wait for nothing.
func immediateFields() map[string]bool {
	return map[string]bool{
		"Query.viewer":            true,
		"Query.publicTimeline":    true,
		"Post.inReplyToId":        true,
		"Post.quotedPostId":       true,
		"Viewer.id":               true,
		"Viewer.homeTimeline":     true,
		"Viewer.mentionsTimeline": true,
		"Timeline.kind":           true,
		"List.timeline":           true,
		"Tag.timeline":            true,
	}
}

// announcedFields returns the fields whose resolvers read nothing but loaders, with the functions that announce their
// keys.
func announcedFields() map[string]func(ctx context.Context, object any) {
	return map[string]func(ctx context.Context, object any){
		"Post.author": func(ctx context.Context, object any) {
			loaders.From(ctx).Authors().Announce(object.(*retwis.Post).AuthorID)
		},
		"Post.inReplyTo": func(ctx context.Context, object any) {
			if id := object.(*retwis.Post).InReplyTo(); id != 0 {
				loaders.From(ctx).Posts.Announce(id)
			}
		},
		"Post.quotedPost": func(ctx context.Context, object any) {
			if id := object.(*retwis.Post).Quoted; id != 0 {
				loaders.From(ctx).Posts.Announce(id)
			}
		},
		"Post.replyCount": func(ctx context.Context, object any) {
			loaders.From(ctx).ReplyCounts.Announce(object.(*retwis.Post).ID)
		},
		"Post.quoteCount": func(ctx context.Context, object any) {
			loaders.From(ctx).QuoteCounts.Announce(object.(*retwis.Post).ID)
		},
		"Post.repostCount": func(ctx context.Context, object any) {
			loaders.From(ctx).RepostCounts.Announce(object.(*retwis.Post).ID)
		},
		"Post.viewerHasReposted": func(ctx context.Context, object any) {
			loaders.From(ctx).ViewerReposts.Announce(object.(*retwis.Post).ID)
		},
		"Repost.user": func(ctx context.Context, object any) {
			loaders.From(ctx).Authors().Announce(object.(*retwis.Repost).UserID)
		},
		"Post.likeCount": func(ctx context.Context, object any) {
			loaders.From(ctx).LikeCounts.Announce(object.(*retwis.Post).ID)
		},
		"Post.viewerHasLiked": func(ctx context.Context, object any) {
			loaders.From(ctx).ViewerLikes.Announce(object.(*retwis.Post).ID)
		},
		"Post.inReplyToUser": func(ctx context.Context, object any) {
			if id := object.(*retwis.Post).InReplyToUser(); id != 0 {
				loaders.From(ctx).Authors().Announce(id)
			}
		},
		"Post.mentions": announceMentions,
		"Post.entities": announceMentions,
		"TextHashtag.tag": func(ctx context.Context, object any) {
			if id := object.(*TextHashtag).id; id != 0 {
				loaders.From(ctx).Tags.Announce(id)
			}
		},
		"User.bioEntities": func(ctx context.Context, object any) {
			names, _ := bioMentions(ctx, object.(*retwis.User)) // the resolver gets the error
			for _, name := range names {
				loaders.From(ctx).UsersByName.Announce(name)
			}
		},
		"User.viewerFollows": func(ctx context.Context, object any) {
			loaders.From(ctx).ViewerFollows.Announce(object.(*retwis.User).ID)
		},
		"User.followsViewer": func(ctx context.Context, object any) {
			loaders.From(ctx).FollowsViewer.Announce(object.(*retwis.User).ID)
		},
		"User.viewerHidesReposts": func(ctx context.Context, object any) {
			loaders.From(ctx).ViewerHides.Announce(object.(*retwis.User).ID)
		},
		"Viewer.user": func(ctx context.Context, object any) {
			loaders.From(ctx).Users.Announce(object.(*retwis.Viewer).ID)
		},
		"List.owner": func(ctx context.Context, object any) {
			loaders.From(ctx).Users.Announce(object.(*retwis.List).OwnerID)
		},
		"Timeline.owner": func(ctx context.Context, object any) {
			if id := object.(*retwis.Timeline).ID; id.Kind == retwis.ListTimeline {
				loaders.From(ctx).Lists.Announce(id.List())
			} else if id.User() != 0 {
				loaders.From(ctx).Users.Announce(id.User())
			}
		},
	}
}

// announceMentions announces the users whom a post mentions.
func announceMentions(ctx context.Context, object any) {
	users := loaders.From(ctx).Authors()
	for _, id := range object.(*retwis.Post).Mentions {
		users.Announce(id)
	}
}
