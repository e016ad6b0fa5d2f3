package retwis

import "time"

// User is a person with an account.
type User struct {
	ID             UserID
	Username       string
	DisplayName    string
	Bio            string
	CreatedAt      time.Time
	PostCount      int
	FollowerCount  int
	FollowingCount int

	BeingDeleted bool // the account is being deleted: it is there only as an author
}

// Viewer is the logged-in user, as the root of what only that user may see.
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

// FollowConnection names a connection of users: its kind and whose it is.
type FollowConnection struct {
	Kind FollowKind
	User UserID
}

// FollowKind tells the two directions of a follow apart.
type FollowKind byte

// The directions of a follow.
const (
	Followers FollowKind = 1 // those who follow the user
	Following FollowKind = 2 // those the user follows
	Members   FollowKind = 3 // those on a list, which stands in the place of the user
	OwnLists  FollowKind = 4 // the lists of the user, not users themselves
)

// ListMembers names the members of a list as a connection.
func ListMembers(list ListID) FollowConnection { return FollowConnection{Members, UserID(list)} }

// Registration is a new account, its fields already checked and normalised.
type Registration struct {
	Username     string
	DisplayName  string
	Bio          string
	PasswordHash string
	CreatedAt    time.Time // the zero time stands for now
}

// ProfileChange says what to change of a profile; nil leaves a field as it is.
type ProfileChange struct {
	DisplayName *string
	Bio         *string
}

// Credentials are what a login is checked against.
type Credentials struct {
	User         UserID
	PasswordHash string
}
