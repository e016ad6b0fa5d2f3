package retwis

import "time"

// Post is a text by one author. Deleted posts are never returned.
type Post struct {
	ID        PostID
	AuthorID  UserID
	Text      string
	Mentions  []UserID // users whom the text mentions, each once, in the order of the text
	Tags      []TagID  // hashtags whose timelines the post is on: those of [IndexedTags], in their order
	Thread    []PostID // of a reply: the posts above it, the root first and the post answered last; see [NextInThread]
	Quoted    PostID   // of a quote: the post quoted, which may have been deleted; 0 for any other post
	Answered  UserID   // of a reply to another user: the author of the post answered
	Reposted  PostID   // of a repost, which has no text and is internal to the store: the post
	CreatedAt time.Time
}

// NewPost is a post to create. Posts with the same author and key are created once.
type NewPost struct {
	Author         UserID
	Text           string // normalised by [NormalizePostText]
	IdempotencyKey string // never empty: the API generates a key if the client gives none
	InReplyTo      PostID // the post that a reply answers, or 0
	Quoted         PostID // the post that a quote quotes, or 0
}
