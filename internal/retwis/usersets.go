package retwis

// UserSet identifies a connection of users that is not a [FollowConnection].
type UserSet struct {
	Kind UserSetKind
	Of   UserID
	With UserID
}

// UserSetKind is the kind of a [UserSet].
type UserSetKind byte

// The kinds of set.
const (
	commonFollowers UserSetKind = 1
	knownFollowers  UserSetKind = 2
	newestUsers     UserSetKind = 3
)

// CommonFollowers returns the set of users who follow both users, in the order in which they
// followed the first one.
func CommonFollowers(of, with UserID) UserSet { return UserSet{commonFollowers, of, with} }

// KnownFollowers returns the set of a user's followers whom the viewer follows.
func KnownFollowers(of, viewer UserID) UserSet { return UserSet{knownFollowers, of, viewer} }

// NewestUsers returns the set of the newest accounts.
func NewestUsers() UserSet { return UserSet{Kind: newestUsers} }

// UserSetPosition is the content of a cursor of a set of users.
type UserSetPosition struct {
	Set   UserSet
	Score int64 // primary sort key; the id is the second
	User  UserID
}

const userSetCursorKind = 'v'

// Cursor encodes the position.
func (p UserSetPosition) Cursor() Cursor {
	return seal(userSetCursorKind, int64(p.Set.Kind), int64(p.Set.Of), int64(p.Set.With), p.Score, int64(p.User))
}

// UserSetPosition decodes a cursor of the given set. Any other cursor is [ErrBadCursor].
func (c Cursor) UserSetPosition(of UserSet) (UserSetPosition, error) {
	n, ok := c.open(userSetCursorKind)
	if !ok || len(n) != 5 || n[0] != int64(of.Kind) || n[1] != int64(of.Of) || n[2] != int64(of.With) {
		return UserSetPosition{}, ErrBadCursor
	}
	return UserSetPosition{Set: of, Score: n[3], User: UserID(n[4])}, nil
}
