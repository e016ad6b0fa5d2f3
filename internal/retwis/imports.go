package retwis

import "time"

// Claim is the account that owns a username. Imports use it to skip existing accounts.
type Claim struct {
	Credentials
	Pending bool // the registration is unfinished
}

// Followings are follows to import: the users whom a reader will follow.
type Followings struct {
	Reader  UserID
	Authors []UserID
}

// PostImport is a batch of posts of one author to import, oldest first.
type PostImport struct {
	Author UserID
	Source string // name of the source; each post of a source is imported once
	From   int    // number of the author's posts in the source before this batch
	Posts  []PastPost
}

// PastPost is a post with a creation time in the past. Its text is normalised.
type PastPost struct {
	Text      string
	CreatedAt time.Time
}
