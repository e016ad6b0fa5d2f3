// Package graph is the GraphQL API: the contract of schema.graphqls on top of the
// domain. Its resolvers authorise, check arguments and make one call; what they call
// is declared here as interfaces.
//
// [NewExecutor] returns the one executor that every transport shares, with its limits,
// loaders and error mapping. A transport puts the viewer into the context, as package
// auth describes, before it hands an operation over.
package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

//go:generate go run ./exec/generate

// Resolver resolves the fields that are more than a field of their object. All of its
// fields must be set.
type Resolver struct {
	Accounts  Accounts
	Users     Users
	Posts     Posts
	Follows   Follows
	Lists     Lists
	Timelines Timelines
	Live      Live
	Limits    RateLimits

	words postWords // for the filters of subscriptions
}

// sources returns the reads that loaders batch.
func (r *Resolver) sources() *loaders.Sources {
	return &loaders.Sources{
		Users:       r.Users.Users,
		Authors:     r.Users.Authors,
		Posts:       r.Posts.Posts,
		Lists:       r.Lists.Lists,
		Sessions:    r.sessionsByID,
		Follows:     r.Follows.Follows,
		FollowedBy:  r.Follows.FollowedBy,
		Memberships: r.Lists.Memberships,
	}
}

// Accounts registers people and manages their sessions and profiles.
type Accounts interface {
	Register(ctx context.Context, username, password string, displayName *string) (auth.Session, error)
	Login(ctx context.Context, username, password string) (auth.Session, error)
	Logout(ctx context.Context, who auth.Identity) error
	LogoutEverywhere(ctx context.Context, who auth.Identity) error
	// Sessions lists those of the viewer, the one used last first.
	Sessions(ctx context.Context, who auth.Identity) ([]retwis.Session, error)
	// RevokeSession ends one of them. Another's is [retwis.ErrSessionNotFound].
	RevokeSession(ctx context.Context, who auth.Identity, id retwis.SessionID) error
	ChangePassword(ctx context.Context, who auth.Identity, current, changed string) (auth.Session, error)
	DeleteAccount(ctx context.Context, who auth.Identity, password string) error
	UpdateProfile(ctx context.Context, who auth.Identity, change retwis.ProfileChange) (*retwis.User, error)
}

// Users finds users.
type Users interface {
	// UserByName fails with [retwis.ErrNotFound] where there is none.
	UserByName(ctx context.Context, username string) (*retwis.User, error)
	// Users answers in the order of the ids, with nil where there is none.
	Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error)
	// Authors is Users from memory, where it is at hand: what they say about themselves
	// may be a second old, their counts of any time.
	Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error)
	// NewestUsers reads the accounts made last.
	NewestUsers(ctx context.Context, page retwis.Page) (retwis.FollowPage, error)
	// SearchUsers finds users whose names begin with a prefix that [retwis.StartsUsername]
	// allows, in the order of names.
	SearchUsers(ctx context.Context, prefix string, page retwis.Page) (retwis.FollowPage, error)
}

// Posts makes, finds and deletes posts.
type Posts interface {
	// CreatePost answers with the post's place in its author's home. A repeat with the
	// same idempotency key answers with the first result.
	CreatePost(ctx context.Context, post retwis.NewPost) (retwis.PostEdge, error)
	DeletePost(ctx context.Context, viewer retwis.UserID, post retwis.PostID) error
	// Posts answers in the order of the ids, with nil where there is none any more.
	Posts(ctx context.Context, ids []retwis.PostID) ([]*retwis.Post, error)
}

// Follows knows who follows whom.
type Follows interface {
	Follow(ctx context.Context, reader, author retwis.UserID) error
	Unfollow(ctx context.Context, reader, author retwis.UserID) error
	FollowPage(ctx context.Context, of retwis.FollowConnection, page retwis.Page) (retwis.FollowPage, error)
	// CommonFollowers reads those who follow a user and another one, too.
	CommonFollowers(ctx context.Context, of, with retwis.UserID, page retwis.Page) (retwis.FollowPage, error)
	// KnownFollowers reads those of a user's followers whom a viewer follows.
	KnownFollowers(ctx context.Context, of, viewer retwis.UserID, page retwis.Page) (retwis.FollowPage, error)
	// Follows tells of each author whether the reader follows them.
	Follows(ctx context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error)
	// FollowedBy tells of each of the others whether they follow the reader.
	FollowedBy(ctx context.Context, reader retwis.UserID, others []retwis.UserID) ([]bool, error)
}

// Timelines reads timelines. It does not ask who may.
type Timelines interface {
	Page(ctx context.Context, timeline retwis.TimelineID, page retwis.Page) (retwis.PostPage, error)
}

// Live is the source of the events of timelines. It authorises nobody.
type Live interface {
	// Attach sends a sink the events after a cursor, or from now on when the cursor is
	// empty, until ctx is done. After an error the sink is not called.
	Attach(ctx context.Context, timeline retwis.TimelineID, after retwis.Cursor, sink retwis.Sink) error
}
