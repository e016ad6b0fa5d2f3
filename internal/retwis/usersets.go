package retwis

// UserSet names a connection of users other than a [FollowConnection]: what brings its
// users together, and whose it is.
type UserSet struct {
	Kind UserSetKind
	Of   UserID
	With UserID
}

// UserSetKind tells sets of users apart.
type UserSetKind byte

// The kinds of set.
const (
	commonFollowers UserSetKind = 1
	knownFollowers  UserSetKind = 2
	newestUsers     UserSetKind = 3
)

// CommonFollowers names those who follow a user and another one, too. Which of the two
// comes first matters: the order is that of the follows of the first.
func CommonFollowers(of, with UserID) UserSet { return UserSet{commonFollowers, of, with} }

// KnownFollowers names those of a user's followers whom the viewer follows.
func KnownFollowers(of, viewer UserID) UserSet { return UserSet{knownFollowers, of, viewer} }

// NewestUsers names the accounts made last.
func NewestUsers() UserSet { return UserSet{Kind: newestUsers} }

// UserSetPosition is what the cursor of a set of users says.
type UserSetPosition struct {
	Set   UserSet
	Score int64 // what the set is sorted by, then by id
	User  UserID
}

const userSetCursorKind = 'v'

// Cursor encodes the position.
func (p UserSetPosition) Cursor() Cursor {
	return seal(userSetCursorKind, int64(p.Set.Kind), int64(p.Set.Of), int64(p.Set.With), p.Score, int64(p.User))
}

// UserSetPosition decodes a cursor of the given set. Any other cursor is [ErrBadCursor].
func (c Cursor) UserSetPosition(of UserSet) (UserSetPosition, error) {
	n, ok := c.open(userSetCursorKind, 5)
	if !ok || n[0] != int64(of.Kind) || n[1] != int64(of.Of) || n[2] != int64(of.With) {
		return UserSetPosition{}, ErrBadCursor
	}
	return UserSetPosition{Set: of, Score: n[3], User: UserID(n[4])}, nil
}
