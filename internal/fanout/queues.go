package fanout

import (
	"slices"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// queue holds the entries of one ordering key that are in memory, oldest first. It is never empty between rounds.
type queue struct {
	key     orderingKey
	entries []*workItem
}

// head returns the entry that is processed first.
func (q *queue) head() *workItem { return q.entries[0] }

// orderingKey identifies the entries that the runner processes in order: the posts of an
// author, the changes to the sources of a timeline, or the changes to an account or a list.
// Exactly one field is set. Entries with different keys are independent.
type orderingKey struct {
	author   retwis.UserID
	timeline retwis.TimelineID
	account  retwis.UserID
	list     retwis.ListID
}

func orderingKeyOf(e outbox.Entry) orderingKey {
	switch e.Kind {
	case outbox.KindPost, outbox.KindDelete, outbox.KindRepair, outbox.KindDetach:
		return orderingKey{author: e.Author}
	case outbox.KindBackfill, outbox.KindPurge:
		return orderingKey{timeline: e.Timeline}
	case outbox.KindDeleteList:
		return orderingKey{list: e.List}
	default:
		return orderingKey{account: e.User}
	}
}

// admit queues entries that were read from the outbox.
func (r *runner) admit(entries []outbox.Entry) {
	r.held.Add(int64(len(entries)))
	now := time.Now()
	for _, e := range entries {
		if e.Kind == outbox.KindPost && r.repairBelow != "" && outbox.Earlier(e.ID, r.repairBelow) {
			e.Kind = outbox.KindRepair // newer posts of the author may have been delivered before it
		}
		r.last = e.ID
		w := &workItem{Entry: e, actor: e.Actor(), readAt: now}
		r.entries = append(r.entries, w)
		r.wait(w, 1)
		q := r.queueOf(w)
		q.entries = append(q.entries, w)
	}
}

// queueOf returns the queue for an entry, to which the caller adds it.
func (r *runner) queueOf(w *workItem) *queue {
	key := orderingKeyOf(w.Entry)
	q := r.queueByKey[key]
	if q == nil {
		q = &queue{key: key}
		r.queueByKey[key] = q
		r.queues = append(r.queues, q)
	}
	return q
}

// dequeueDone removes completed entries from the heads of the queues.
func (r *runner) dequeueDone() {
	r.queues = slices.DeleteFunc(r.queues, func(q *queue) bool {
		for len(q.entries) > 0 && q.head().done {
			q.entries = q.entries[1:]
		}
		if len(q.entries) > 0 {
			return false
		}
		delete(r.queueByKey, q.key)
		return true
	})
}

// restoreToQueue puts a completed entry back at the head of its queue.
func (r *runner) restoreToQueue(w *workItem) {
	if q := r.queueOf(w); !slices.Contains(q.entries, w) {
		q.entries = slices.Insert(q.entries, 0, w)
	}
}
