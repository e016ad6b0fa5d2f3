package retwis

import "time"

// What follows fills a database with much at once: people who were made up, or come from
// elsewhere, with what they did there.

// Claim is the account that has a name.
type Claim struct {
	Credentials
	Pending bool // its registration has not ended
}

// Followings are the people whom a reader is to follow.
type Followings struct {
	Reader  UserID
	Authors []UserID
}

// PostImport is a run of posts of one author, oldest first.
type PostImport struct {
	Author UserID
	Source string // names where they come from; of each source every post is taken once
	From   int    // how many posts of the author come before these in the source
	Posts  []PastPost
}

// PastPost is a post that was made in the past. Its text is checked and normalised.
type PastPost struct {
	Text      string
	CreatedAt time.Time
}
