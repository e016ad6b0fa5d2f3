package retwis

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// OutboxEntry is something that the worker must carry out for a user.
type OutboxEntry struct {
	Outbox    int    // the partition whose outbox holds it
	ID        string // Redis stream id: entries of one outbox rise
	Kind      OutboxKind
	Author    UserID
	User      UserID     // of a registration, or who is leaving
	Timeline  TimelineID // that is back-filled or purged
	List      ListID     // that is taken apart
	Post      PostID
	Mentions  []UserID          // of Post
	Score     int64             // of the follow that a back-fill belongs to
	Step      int64             // of leaving or parting
	Name      string            // folded name of a registration
	Trace     string            // ids of the trace and the span that made it; empty where they are not recorded
	Fields    map[string]string // all of it, as stored
	Malformed error             // why the fields make no sense, or nil
}

// EarlierEntry reports whether an entry comes before another in the same outbox, by their
// ids, like 1767225600000-3.
func EarlierEntry(a, b string) bool {
	am, as := entryID(a)
	bm, bs := entryID(b)
	return cmp.Or(cmp.Compare(am, bm), cmp.Compare(as, bs)) < 0
}

// NextEntry returns the lowest id above another.
func NextEntry(id string) string {
	millis, seq := entryID(id)
	return fmt.Sprintf("%d-%d", millis, seq+1)
}

// entryID reads the two halves of an id that Redis made.
func entryID(id string) (millis, seq int64) {
	first, second, _ := strings.Cut(id, "-")
	millis, _ = strconv.ParseInt(first, 10, 64)
	seq, _ = strconv.ParseInt(second, 10, 64)
	return millis, seq
}

// OutboxKind tells entries apart.
type OutboxKind string

// The kinds of entry.
const (
	OutboxPost     OutboxKind = "post"     // deliver Post of Author
	OutboxDelete   OutboxKind = "delete"   // tell those it went to that Post of Author is gone
	OutboxBackfill OutboxKind = "backfill" // Timeline follows Author: merge the posts in
	OutboxPurge    OutboxKind = "purge"    // Timeline no longer follows Author: take the posts out
	OutboxRegister OutboxKind = "register" // finish the registration of User under Name
	OutboxRepair   OutboxKind = "repair"   // merge the posts of Author into every timeline that follows
	OutboxUnlist   OutboxKind = "unlist"   // take List apart, which its owner has deleted
	OutboxLeave    OutboxKind = "leave"    // delete the next of what User has made, who is leaving
	OutboxPart     OutboxKind = "part"     // cut Author off from everybody: all that they made is deleted
)

// Delivery is one call that carries an entry on in one partition.
type Delivery struct {
	Entry     OutboxEntry
	Partition int
	To        Audience
	User      UserID // with [ToMentioned]: whose mentions
	Position  string // where the entry is expected to stand there; empty at first
}

// Audience tells whom a delivery is for.
type Audience byte

// The audiences of a post.
const (
	ToFollowers Audience = iota // the homes of the author's followers in a partition
	ToLists                     // the lists in a partition that hold the author
	ToMentioned                 // the mentions of one user
	ToPublic                    // the public timeline
	ToReaders                   // those followers in a partition who watch or read: the author has too many to push to
	ToNobody                    // what is to be done besides, which is noted in the partition of the outbox
)

// Place is where an entry, or a part of it, is carried out.
type Place struct {
	Entry     string // its id
	Partition int
	To        Audience
	User      UserID // with [ToMentioned]
}

// Place returns where a delivery is carried out.
func (d Delivery) Place() Place { return Place{d.Entry.ID, d.Partition, d.To, d.User} }

// Reach is where an author's posts go.
type Reach struct {
	Followers map[int]int  // partitions that may hold followers, with how many they are thought to be
	Lists     map[int]bool // partitions that may hold lists with the author on them
	Large     bool         // whether they are too many to push to
}

// DeliveryDone is the position of an entry that is carried out in a partition.
const DeliveryDone = "done"

// Delivered is what became of a delivery.
type Delivered struct {
	Position string // where the entry stands now: another worker may have moved it
	Pushed   int    // lists the post was pushed to
	Err      error
}

// ErrEntryRefused marks an error that a script answered by itself, which trying again
// will not mend, unlike an error of the connection, the server or the cluster.
var ErrEntryRefused = errors.New("the entry was refused")

// ErrNotReplicated says that a write may be lost in a failover. The write is one that may be
// repeated.
var ErrNotReplicated = errors.New("no replica has confirmed the write in time: try again")

// DeadLetter is an entry that could not be carried out.
type DeadLetter struct {
	ID     string
	Reason string
	Entry  OutboxEntry
}
