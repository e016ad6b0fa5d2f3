package retwis

import "time"

// User is an account.
type User struct {
	ID             UserID
	Username       string
	DisplayName    string
	Bio            string
	CreatedAt      time.Time
	PostCount      int
	FollowerCount  int
	FollowingCount int

	BeingDeleted bool // the account is being deleted; it remains only as the author of posts
}

// Viewer is the logged-in user, the root of data that only that user may see.
type Viewer struct{ ID UserID }

// Follow is one entry of a followers or following connection.
type Follow struct {
	Cursor     Cursor
	User       *User
	FollowedAt time.Time
}

// FollowPage is one page of followers or of those followed, newest follow first.
type FollowPage struct {
	Follows         []Follow
	HasNextPage     bool
	HasPreviousPage bool
	TotalCount      int
}

// FollowConnection identifies a connection of users by its kind and its owner.
type FollowConnection struct {
	Kind FollowKind
	User UserID
}

// FollowKind is the kind of a [FollowConnection].
type FollowKind byte

// The kinds of connection.
const (
	Followers FollowKind = 1 // users who follow the user
	Following FollowKind = 2 // users whom the user follows
	Members   FollowKind = 3 // members of a list, whose id replaces that of the user
	OwnLists  FollowKind = 4 // the lists of the user, not users
)

// ListMembers returns the connection of the members of a list.
func ListMembers(list ListID) FollowConnection { return FollowConnection{Members, UserID(list)} }

// Registration is a new account, its fields already checked and normalised.
type Registration struct {
	Username     string
	DisplayName  string
	Bio          string
	PasswordHash string
	CreatedAt    time.Time // the zero time means now
}

// ProfileChange is a change of a profile. A nil field stays unchanged.
type ProfileChange struct {
	DisplayName *string
	Bio         *string
}

// Credentials are what a login is checked against.
type Credentials struct {
	User         UserID
	PasswordHash string
}
