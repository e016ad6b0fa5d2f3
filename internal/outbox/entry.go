package outbox

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"retwis/internal/retwis"
)

// Entry is a task that the worker must carry out for a user.
type Entry struct {
	Outbox    int    // the partition whose outbox holds the entry
	ID        string // Redis stream id; ids of one outbox rise
	Kind      Kind
	Author    retwis.UserID
	User      retwis.UserID     // the user of a registration or of an account deletion
	Timeline  retwis.TimelineID // the timeline of a back-fill or purge
	List      retwis.ListID     // the deleted list
	Owner     retwis.UserID     // the owner of the list, if the entry is about one; 0 in entries of earlier versions
	Post      retwis.PostID     // the post, or the repost
	Answered  retwis.UserID     // if Post is a reply to another user: the author of the post answered
	ReplyTo   retwis.PostID     // if Post is a reply: the post answered
	Reposted  retwis.PostID     // if Post is a repost: the post
	Quoted    retwis.PostID     // if Post is a quote: the post quoted
	Mentions  []retwis.UserID   // users whom Post mentions
	Tags      []retwis.TagID    // hashtags whose timelines have Post
	Score     int64             // time of the follow that a back-fill belongs to
	Step      int64             // step of an account deletion, or of detaching followers
	Name      string            // folded name of a registration
	Trace     string            // ids of the trace and span that created the entry; empty without tracing
	Origin    string            // the network from which the entry was caused, as a hash; empty if that is unknown
	Fields    map[string]string // all fields, as stored
	Malformed error             // why the fields cannot be interpreted, or nil
}

// Element returns the element by which lists hold Post.
func (e Entry) Element() retwis.Element {
	return retwis.NewElement(e.Post, e.Author, e.Answered, e.Reposted)
}

// Actor returns who caused the entry.
func (e Entry) Actor() retwis.Actor {
	user := e.actingUser()
	return retwis.Actor{User: user, Network: cmp.Or(e.Origin, "user "+user.String())}
}

// actingUser returns the user who caused the entry. If that is the owner of a list whom the entry does not name, it returns the id of the list.
func (e Entry) actingUser() retwis.UserID {
	switch e.Kind {
	case KindBackfill, KindPurge:
		return cmp.Or(e.Owner, e.Timeline.Owner)
	case KindDeleteList:
		return cmp.Or(e.Owner, retwis.UserID(e.List))
	default:
		return cmp.Or(e.User, e.Author)
	}
}

// Timelines returns the single timelines that receive Post: the public timeline, mentions and the timelines of hashtags. A repost is on
// none of them.
func (e Entry) Timelines() []retwis.TimelineID {
	var ids []retwis.TimelineID
	if e.Answered == 0 && e.Reposted == 0 {
		ids = append(ids, retwis.Public())
	}
	for _, user := range e.Mentions {
		ids = append(ids, retwis.Mentions(user))
	}
	for _, tag := range e.Tags {
		ids = append(ids, retwis.TagPosts(tag))
	}
	return ids
}

// Kind is the kind of an entry.
type Kind string

// The kinds of entry.
const (
	KindPost          Kind = "post"           // deliver Post of Author
	KindDelete        Kind = "delete"         // announce the deletion of Post of Author wherever it was delivered
	KindBackfill      Kind = "backfill"       // Timeline follows Author: add the author's posts
	KindPurge         Kind = "purge"          // Timeline no longer follows Author: remove the author's posts
	KindRegister      Kind = "register"       // finish the registration of User under Name
	KindRepair        Kind = "repair"         // merge the posts of Author into every timeline that follows Author
	KindDeleteList    Kind = "delete_list"    // remove the members and posts of List, which its owner has deleted
	KindDeleteAccount Kind = "delete_account" // carry out the next account deletion step for User
	KindDetach        Kind = "detach"         // detach the followers of Author, whose account is being deleted
)

// Earlier reports whether the entry id a comes before b in the same outbox. Ids look like
// 1767225600000-3.
func Earlier(a, b string) bool {
	am, as := parseID(a)
	bm, bs := parseID(b)
	return cmp.Or(cmp.Compare(am, bm), cmp.Compare(as, bs)) < 0
}

// CreatedAt returns when the entry of an id was added, in milliseconds since 1970.
func CreatedAt(id string) int64 {
	millis, _ := parseID(id)
	return millis
}

// NextID returns the lowest entry id above id.
func NextID(id string) string {
	millis, seq := parseID(id)
	return fmt.Sprintf("%d-%d", millis, seq+1)
}

// parseID reads the two halves of a Redis stream id.
func parseID(id string) (millis, seq int64) {
	first, second, _ := strings.Cut(id, "-")
	millis, _ = strconv.ParseInt(first, 10, 64)
	seq, _ = strconv.ParseInt(second, 10, 64)
	return millis, seq
}

// DeadLetter is an entry that failed permanently.
type DeadLetter struct {
	ID     string
	Reason string
	Entry  Entry
}
