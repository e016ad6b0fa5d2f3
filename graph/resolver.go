// Package graph is the GraphQL API: schema.graphqls, implemented on top of the domain. A resolver checks access and
// arguments, and then calls one method of the interfaces in backend.go.
//
// [NewExecutor] returns the executor that all transports share. A transport puts the viewer into the context, as package
// auth describes, before it executes an operation.
package graph

import "retwis/graph/loaders"

//go:generate go run ./exec/generate

// Resolver resolves the fields that are not read directly from a struct. All exported fields must be set.
type Resolver struct {
	Accounts  Accounts
	Users     Users
	Posts     Posts
	Reposts   Reposts
	Likes     Likes
	Follows   Follows
	Lists     Lists
	Tags      Tags
	Timelines Timelines
	Live      Live
	Limits    RateLimits

	words postWords // of the filters of subscriptions
}

// sources returns the reads that loaders batch. Authors are shared by all operations of a moment.
func (r *Resolver) sources() *loaders.Sources {
	return &loaders.Sources{
		Users:        keeping(r.Users.Users, textsOfUsers),
		Authors:      r.Users.Authors,
		ByName:       keeping(r.Users.UsersByName, textsOfUsers),
		Posts:        keeping(r.Posts.Posts, textsOfPosts),
		Replies:      r.Posts.ReplyCounts,
		Quotes:       r.Posts.QuoteCounts,
		Reposts:      r.Reposts.RepostCounts,
		Reposted:     r.Reposts.Reposted,
		Likes:        r.Likes.LikeCounts,
		Liked:        r.Likes.Liked,
		Lists:        r.Lists.Lists,
		Tags:         r.Tags.Tags,
		Sessions:     r.sessionsByID,
		Follows:      r.Follows.Follows,
		FollowedBy:   r.Follows.FollowedBy,
		HidesReposts: r.Follows.HidesReposts,
		Memberships:  r.Lists.Memberships,
	}
}
