package graph

import (
	"context"

	"retwis/graph/limits"
	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Accounts registers users and manages their sessions and profiles.
type Accounts interface {
	Register(ctx context.Context, username, password string, displayName *string, userAgent string) (auth.Session, error)
	Login(ctx context.Context, username, password, userAgent string) (auth.Session, error)
	Logout(ctx context.Context, who auth.Identity) error
	LogoutEverywhere(ctx context.Context, who auth.Identity) error
	// Sessions returns the viewer's sessions, the most recently used first.
	Sessions(ctx context.Context, who auth.Identity) ([]retwis.Session, error)
	// RevokeSession ends one of the viewer's sessions. It fails with [retwis.ErrSessionNotFound] for any other.
	RevokeSession(ctx context.Context, who auth.Identity, id retwis.SessionID) error
	ChangePassword(ctx context.Context, who auth.Identity, current, changed, userAgent string) (auth.Session, error)
	DeleteAccount(ctx context.Context, who auth.Identity, password string) error
	UpdateProfile(ctx context.Context, who auth.Identity, change retwis.ProfileChange) (*retwis.User, error)
}

// Users finds users.
type Users interface {
	// UserByName fails with [retwis.ErrNotFound] if there is no such user.
	UserByName(ctx context.Context, username string) (*retwis.User, error)
	// Users returns users in the order of the ids, nil for those that do not exist.
	Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error)
	// UsersByName returns users in the order of their folded names, nil for those that do not exist.
	UsersByName(ctx context.Context, names []string) ([]*retwis.User, error)
	// Authors is like Users, but may answer from a cache with users that are up to a second old.
	Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error)
	// NewestUsers returns a page of the users who registered last.
	NewestUsers(ctx context.Context, page retwis.Page) (retwis.FollowPage, error)
	// SearchUsers returns a page of the users whose names begin with a prefix that [retwis.StartsUsername] accepts, in
	// the order of names.
	SearchUsers(ctx context.Context, prefix string, page retwis.Page) (retwis.FollowPage, error)
	// FindUsers returns up to count users whose names match a query, the best matches first.
	FindUsers(ctx context.Context, query string, count int) ([]*retwis.User, error)
}

// Posts creates, finds and deletes posts, and reads their replies.
type Posts interface {
	// CreatePost returns the edge of the post in its author's home. A repeat with the same idempotency key returns the
	// first result.
	CreatePost(ctx context.Context, post retwis.NewPost) (retwis.PostEdge, error)
	DeletePost(ctx context.Context, viewer retwis.UserID, post retwis.PostID) error
	// Posts returns posts in the order of the ids, nil for those that do not exist.
	Posts(ctx context.Context, ids []retwis.PostID) ([]*retwis.Post, error)
	// Thread returns the conversation around a post, nil if there was no such post, and if it was deleted and has no
	// replies.
	Thread(ctx context.Context, id retwis.PostID) (*retwis.Thread, error)
	// ReplyCounts returns the numbers of replies of posts in the order of the ids. The posts may have been deleted.
	ReplyCounts(ctx context.Context, ids []retwis.PostID) ([]int, error)
	// QuoteCounts does the same for quotes.
	QuoteCounts(ctx context.Context, ids []retwis.PostID) ([]int, error)
	// ReferencePage returns a page. It fails with [retwis.ErrBadCursor] for a cursor of other replies or quotes.
	ReferencePage(ctx context.Context, of retwis.References, page retwis.Page) (retwis.PostPage, error)
}

// Reposts manages who has reposted which posts.
type Reposts interface {
	// Repost returns the element of the repost. It fails with [retwis.ErrPostNotFound] for a post that does not exist.
	Repost(ctx context.Context, user retwis.UserID, post retwis.PostID) (retwis.Element, error)
	UndoRepost(ctx context.Context, user retwis.UserID, post retwis.PostID) error
	// RepostCounts returns the numbers of reposts of posts in the order of the ids.
	RepostCounts(ctx context.Context, posts []retwis.PostID) ([]int, error)
	// Reposted reports for each post whether the user has reposted it.
	Reposted(ctx context.Context, user retwis.UserID, posts []retwis.PostID) ([]bool, error)
}

// Likes manages who likes which posts.
type Likes interface {
	// Like fails with [retwis.ErrPostNotFound] for a post that does not exist, and so does Unlike.
	Like(ctx context.Context, user retwis.UserID, post retwis.PostID) error
	Unlike(ctx context.Context, user retwis.UserID, post retwis.PostID) error
	// LikeCounts returns the numbers of likes of posts in the order of the ids.
	LikeCounts(ctx context.Context, posts []retwis.PostID) ([]int, error)
	// Liked reports for each post whether the user likes it.
	Liked(ctx context.Context, user retwis.UserID, posts []retwis.PostID) ([]bool, error)
	// LikerPage fails with [retwis.ErrBadCursor] for a cursor of another connection, and so does LikedPage.
	LikerPage(ctx context.Context, post retwis.PostID, page retwis.Page) (retwis.LikerPage, error)
	LikedPage(ctx context.Context, user retwis.UserID, page retwis.Page) (retwis.LikedPostPage, error)
}

// Follows manages who follows whom.
type Follows interface {
	Follow(ctx context.Context, reader, author retwis.UserID) error
	// FollowShowing does the same, and determines whether the home of the reader shows the reposts of the author.
	FollowShowing(ctx context.Context, reader, author retwis.UserID, reposts bool) error
	Unfollow(ctx context.Context, reader, author retwis.UserID) error
	FollowPage(ctx context.Context, of retwis.FollowConnection, page retwis.Page) (retwis.FollowPage, error)
	// CommonFollowers returns a page of the users who follow both users.
	CommonFollowers(ctx context.Context, of, with retwis.UserID, page retwis.Page) (retwis.FollowPage, error)
	// KnownFollowers returns a page of the followers of a user whom the viewer follows.
	KnownFollowers(ctx context.Context, of, viewer retwis.UserID, page retwis.Page) (retwis.FollowPage, error)
	// Follows reports for each author whether the reader follows them.
	Follows(ctx context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error)
	// HidesReposts reports for each author whether the reader follows them without seeing their reposts.
	HidesReposts(ctx context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error)
	// FollowedBy reports for each of the others whether they follow the reader.
	FollowedBy(ctx context.Context, reader retwis.UserID, others []retwis.UserID) ([]bool, error)
}

// Lists manages the lists of users. Its methods fail with [retwis.ErrListNotFound] for a list that does not exist, and
// with [retwis.ErrListNotOwned] for a list of another owner.
type Lists interface {
	// CreateList creates a list once per key. A repeat returns the list as it is then, or fails with
	// [retwis.ErrListNotFound] if it was deleted.
	CreateList(ctx context.Context, owner retwis.UserID, name, key string) (*retwis.List, error)
	RenameList(ctx context.Context, owner retwis.UserID, list retwis.ListID, name string) (*retwis.List, error)
	DeleteList(ctx context.Context, owner retwis.UserID, list retwis.ListID) error
	AddListMember(ctx context.Context, owner retwis.UserID, list retwis.ListID, user retwis.UserID) error
	RemoveListMember(ctx context.Context, owner retwis.UserID, list retwis.ListID, user retwis.UserID) error
	// Lists returns lists in the order of the ids, nil for those that do not exist.
	Lists(ctx context.Context, ids []retwis.ListID) ([]*retwis.List, error)
	ListPage(ctx context.Context, owner retwis.UserID, page retwis.Page) (retwis.ListPage, error)
	// Memberships reports for each pair whether the user is a member of the list.
	Memberships(ctx context.Context, pairs []retwis.Membership) ([]bool, error)
}

// Tags finds hashtags.
type Tags interface {
	// TagByName fails with [retwis.ErrNotFound] if there is no hashtag with the folded name.
	TagByName(ctx context.Context, folded string) (*retwis.Tag, error)
	// Tags returns hashtags in the order of the ids, nil for those that do not exist.
	Tags(ctx context.Context, ids []retwis.TagID) ([]*retwis.Tag, error)
}

// Timelines reads timelines and marks them as read. It does not check access.
type Timelines interface {
	Page(ctx context.Context, timeline retwis.TimelineID, page retwis.Page) (retwis.PostPage, error)
	// Unread returns the marker of a timeline, and counts the posts above it up to a number.
	Unread(ctx context.Context, timeline retwis.TimelineID, atMost int) (retwis.Unread, error)
	// MarkRead fails with [retwis.ErrBadCursor] for a cursor of another timeline, and with [retwis.ErrNotFound] if the
	// timeline no longer exists.
	MarkRead(ctx context.Context, timeline retwis.TimelineID, cursor retwis.Cursor) error
}

// Live delivers the events of timelines. It does not check whether the viewer may see them.
type Live interface {
	// Attach sends a sink the events after a cursor, or from now on if the cursor is empty, until ctx is done. After an
	// error it does not call the sink.
	Attach(ctx context.Context, who retwis.Subscriber, timeline retwis.TimelineID, after retwis.Cursor, sink retwis.Sink) error
}

// RateLimits count the operations of clients and refuse those that exceed a limit, with the code RATE_LIMITED.
type RateLimits interface {
	limits.Limiter
	// NotRegistered refunds the cost of a registration that created no account.
	NotRegistered(ctx context.Context, client ratelimit.Client)
	// LoggedIn records that a client has logged in with a username.
	LoggedIn(ctx context.Context, client ratelimit.Client, name string)
	// Budget returns the remaining read budget of a client, and false if reads are not limited.
	Budget(ctx context.Context, client ratelimit.Client) (ratelimit.Budget, bool)
}
