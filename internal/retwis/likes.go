package retwis

import "time"

// Liker is a user who likes a post, and the position among its likers.
type Liker struct {
	Cursor  Cursor
	User    *User
	LikedAt time.Time
}

// LikerPage is one page of the users who like a post, newest like first.
type LikerPage struct {
	Likers          []Liker
	HasNextPage     bool
	HasPreviousPage bool
	TotalCount      int
}

// LikedPost is a post that a user likes, and the position among the user's likes.
type LikedPost struct {
	Cursor  Cursor
	Post    *Post
	LikedAt time.Time
}

// LikedPostPage is one page of the posts that a user likes, newest like first.
type LikedPostPage struct {
	Posts           []LikedPost
	HasNextPage     bool
	HasPreviousPage bool

	// ScannedTo is the last position read of a page that ended early, because many posts were deleted. It is empty for any
	// other page.
	ScannedTo Cursor
}

// LikePosition is the content of a cursor of the users who like a post, or of the posts that a user likes.
type LikePosition struct {
	User  UserID
	Post  PostID
	Score int64 // time of the like, microseconds since 1970
}

const (
	likerCursorKind     = 'k'
	likedPostCursorKind = 'y'
)

// LikerCursor encodes the position of the user among those who like the post.
func (p LikePosition) LikerCursor() Cursor {
	return seal(likerCursorKind, int64(p.Post), p.Score, int64(p.User))
}

// LikedPostCursor encodes the position of the post among those that the user likes.
func (p LikePosition) LikedPostCursor() Cursor {
	return seal(likedPostCursorKind, int64(p.User), p.Score, int64(p.Post))
}

// LikerPosition decodes a cursor of the users who like a post. Any other cursor is [ErrBadCursor].
func (c Cursor) LikerPosition(of PostID) (LikePosition, error) {
	n, ok := c.open(likerCursorKind)
	if !ok || len(n) != 3 || n[0] != int64(of) {
		return LikePosition{}, ErrBadCursor
	}
	return LikePosition{Post: of, Score: n[1], User: UserID(n[2])}, nil
}

// LikedPostPosition decodes a cursor of the posts that a user likes. Any other cursor is [ErrBadCursor].
func (c Cursor) LikedPostPosition(of UserID) (LikePosition, error) {
	n, ok := c.open(likedPostCursorKind)
	if !ok || len(n) != 3 || n[0] != int64(of) {
		return LikePosition{}, ErrBadCursor
	}
	return LikePosition{User: of, Score: n[1], Post: PostID(n[2])}, nil
}
