package retwis

import "time"

// Post is a text by one author. A deleted post is never handed out.
type Post struct {
	ID        PostID
	AuthorID  UserID
	Text      string
	Mentions  []UserID // users the text names, each once, in the order of the text
	CreatedAt time.Time
}

// NewPost is a post to be made. Posts with the same author and key are made once.
type NewPost struct {
	Author         UserID
	Text           string // normalised by [NormalizePostText]
	IdempotencyKey string // never empty: the API makes one where the client gives none
}
