package retwis

import "errors"

// OutboxEntry is something that the worker must carry out for a user.
type OutboxEntry struct {
	Outbox    int    // the partition whose outbox holds it
	ID        string // Redis stream id: entries of one outbox rise
	Kind      OutboxKind
	Author    UserID
	Reader    UserID
	Post      PostID
	Score     int64             // of the follow that a back-fill belongs to
	Name      string            // folded name of a registration
	Fields    map[string]string // all of it, as stored
	Malformed error             // why the fields make no sense, or nil
}

// OutboxKind tells entries apart.
type OutboxKind string

// The kinds of entry.
const (
	OutboxPost     OutboxKind = "post"     // deliver Post of Author to the followers
	OutboxDelete   OutboxKind = "delete"   // tell the followers that Post of Author is gone
	OutboxBackfill OutboxKind = "backfill" // Reader follows Author: merge the posts in
	OutboxPurge    OutboxKind = "purge"    // Reader unfollowed Author: take the posts out
	OutboxRegister OutboxKind = "register" // finish the registration of Reader under Name
	OutboxRepair   OutboxKind = "repair"   // merge the posts of Author into every follower's home
)

// Delivery is one call that carries an entry on in one partition.
type Delivery struct {
	Entry     OutboxEntry
	Partition int
	Public    bool   // to the public timeline, rather than the followers' homes
	Position  string // where the entry is expected to stand there; empty at first
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

// DeadLetter is an entry that could not be carried out.
type DeadLetter struct {
	ID     string
	Reason string
	Entry  OutboxEntry
}
