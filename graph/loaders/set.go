package loaders

import (
	"context"
	"slices"
	"time"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// Sources are the batch functions of the loaders. All of them must be set, and answer in the order of the keys.
type Sources struct {
	Users    Read[retwis.UserID, *retwis.User]
	Authors  Read[retwis.UserID, *retwis.User] // from a cache where possible: the counts may be stale
	ByName   Read[string, *retwis.User]        // by folded username
	Posts    Read[retwis.PostID, *retwis.Post]
	Replies  Read[retwis.PostID, int] // their numbers
	Quotes   Read[retwis.PostID, int] // their numbers
	Reposts  Read[retwis.PostID, int] // their numbers
	Likes    Read[retwis.PostID, int] // their numbers
	Lists    Read[retwis.ListID, *retwis.List]
	Tags     Read[retwis.TagID, *retwis.Tag]
	Sessions Read[retwis.SessionID, *retwis.Session] // of the viewer

	// Follows reports for each of the others whether the user follows them, FollowedBy whether they follow the user.
	Follows, FollowedBy func(ctx context.Context, user retwis.UserID, others []retwis.UserID) ([]bool, error)
	// HidesReposts reports for each of the others whether the user follows them without seeing their reposts.
	HidesReposts func(ctx context.Context, user retwis.UserID, others []retwis.UserID) ([]bool, error)

	// Liked reports for each post whether the user likes it, Reposted whether the user has reposted it.
	Liked, Reposted func(ctx context.Context, user retwis.UserID, posts []retwis.PostID) ([]bool, error)

	Memberships Read[retwis.Membership, bool]
}

// Set holds the loaders of one response, or of one field of a mutation. They remember what they read, so a set must not
// live longer.
type Set struct {
	Users         *Loader[retwis.UserID, *retwis.User]
	UsersByName   *Loader[string, *retwis.User] // by folded username
	Posts         *Loader[retwis.PostID, *retwis.Post]
	ReplyCounts   *Loader[retwis.PostID, int]
	QuoteCounts   *Loader[retwis.PostID, int]
	RepostCounts  *Loader[retwis.PostID, int]
	LikeCounts    *Loader[retwis.PostID, int]
	ViewerReposts *Loader[retwis.PostID, bool]
	ViewerLikes   *Loader[retwis.PostID, bool]
	Lists         *Loader[retwis.ListID, *retwis.List]
	Tags          *Loader[retwis.TagID, *retwis.Tag]
	Sessions      *Loader[retwis.SessionID, *retwis.Session]
	ViewerFollows *Loader[retwis.UserID, bool]
	FollowsViewer *Loader[retwis.UserID, bool]
	ViewerHides   *Loader[retwis.UserID, bool] // whether the viewer hides the reposts of a user
	Memberships   *Loader[retwis.Membership, bool]

	cachedAuthors *Loader[retwis.UserID, *retwis.User]
	selection     Selection
	results       results // of reads that are no loaders
}

// Selection contains hints about the operation. The zero value is always safe.
type Selection struct {
	NoCounts bool // the operation selects no counts of users, so stale ones do no harm
	Named    bool // the operation selects the users whom posts mention or answer
	NoUnread bool // the operation selects no marker and no count of unread posts
	NoViewer bool // the operation does not select whether the viewer likes posts or has reposted them
}

// How long a set collects unforeseen keys. The elements of a list are resolved side by side, so their keys arrive within
// microseconds of each other. An event of a subscription has one element.
const (
	ListWait  = 200 * time.Microsecond
	EventWait = 0
)

// maxAnnounced bounds the announced keys of one read.
const maxAnnounced = 500

type contextKey struct{}

// With returns a context with a new set of loaders.
//
// The context carries the set because nothing else can: gqlgen calls a resolver with the context and the parent object
// alone, and its operation context is shared by all events of a subscription and all fields of a mutation, each of which
// needs a set of its own.
func (s *Sources) With(ctx context.Context, wait time.Duration) context.Context {
	options := Options{Wait: wait, MaxCollected: retwis.MaxPageSize, MaxAnnounced: maxAnnounced}
	return context.WithValue(ctx, contextKey{}, &Set{
		Users:         New(options, s.Users),
		UsersByName:   New(options, s.ByName),
		Posts:         New(options, s.Posts),
		ReplyCounts:   New(options, s.Replies),
		QuoteCounts:   New(options, s.Quotes),
		RepostCounts:  New(options, s.Reposts),
		LikeCounts:    New(options, s.Likes),
		ViewerReposts: New(options, ofViewer(s.Reposted)),
		ViewerLikes:   New(options, ofViewer(s.Liked)),
		Lists:         New(options, s.Lists),
		Tags:          New(options, s.Tags),
		Sessions:      New(options, s.Sessions),
		ViewerFollows: New(options, ofViewer(s.Follows)),
		FollowsViewer: New(options, ofViewer(s.FollowedBy)),
		ViewerHides:   New(options, ofViewer(s.HidesReposts)),
		Memberships:   New(options, s.Memberships),
		cachedAuthors: New(options, s.Authors),
	})
}

// From returns the loaders of a context that [Sources.With] returned. It panics if there are none.
func From(ctx context.Context) *Set {
	return ctx.Value(contextKey{}).(*Set) //nolint:forcetypeassert // resolvers run only with loaders
}

// ofViewer reads relations between the viewer and other users, or posts. An anonymous viewer has none.
func ofViewer[K comparable](ask func(context.Context, retwis.UserID, []K) ([]bool, error)) Read[K, bool] {
	return func(ctx context.Context, others []K) ([]bool, error) {
		viewer := auth.IdentityOf(ctx).User
		if viewer == 0 {
			return make([]bool, len(others)), nil
		}
		return ask(ctx, viewer, others)
	}
}

// Select tells the set what its operation selects. Call it before any resolver runs.
func (s *Set) Select(selection Selection) { s.selection = selection }

// SelectsNoUnread reports whether the operation selects no marker and no count of unread posts.
func (s *Set) SelectsNoUnread() bool { return s.selection.NoUnread }

// SelectsNoViewer reports whether the operation does not select whether the viewer likes posts or has reposted them.
func (s *Set) SelectsNoViewer() bool { return s.selection.NoViewer }

// ExpectPosts announces a page of posts. It does not read the known relations between the viewer and the posts again.
func (s *Set) ExpectPosts(ids []retwis.PostID, related map[retwis.PostID]retwis.Relation) {
	s.ReplyCounts.Expect(ids)
	s.QuoteCounts.Expect(ids)
	s.RepostCounts.Expect(ids)
	s.LikeCounts.Expect(ids)
	var known, unknown []retwis.PostID
	var likes, reposts []bool
	for _, id := range ids {
		if relation, ok := related[id]; ok {
			known, likes, reposts = append(known, id), append(likes, relation.Liked), append(reposts, relation.Reposted)
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(known) > 0 {
		s.ViewerLikes.Prime(known, likes)
		s.ViewerReposts.Prime(known, reposts)
	}
	if len(unknown) > 0 {
		s.ViewerLikes.Expect(unknown)
		s.ViewerReposts.Expect(unknown)
	}
}

// Authors loads the authors of posts and the users whom posts mention or answer, from the cache of authors if the operation
// selects no counts.
func (s *Set) Authors() *Loader[retwis.UserID, *retwis.User] {
	if s.selection.NoCounts {
		return s.cachedAuthors
	}
	return s.Users
}

// ExpectAuthors announces the authors of a page of posts, and the users whom these mention or answer; ids may repeat. A
// read for one of them reads all of them in one batch. The named users share the read if the operation selects them.
// Otherwise they form a separate batch, which is usually not read.
func (s *Set) ExpectAuthors(authors, named []retwis.UserID) {
	if s.selection.Named {
		s.expect(s.Authors(), append(authors, named...))
		return
	}
	s.expect(s.Authors(), authors)
	s.expect(s.Authors(), named)
}

// ExpectUsers announces a page of users; ids may repeat.
func (s *Set) ExpectUsers(ids []retwis.UserID) { s.expect(s.Users, ids) }

func (s *Set) expect(users *Loader[retwis.UserID, *retwis.User], ids []retwis.UserID) {
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	users.Expect(ids)
	s.ViewerFollows.Expect(ids)
	s.FollowsViewer.Expect(ids)
	s.ViewerHides.Expect(ids)
}
