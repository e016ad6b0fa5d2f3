package fanout

import (
	"slices"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

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
		key := orderingKeyOf(e)
		if len(r.queues[key]) == 0 {
			r.activeKeys = append(r.activeKeys, key)
		}
		r.entries = append(r.entries, w)
		r.wait(w, 1)
		r.queues[key] = append(r.queues[key], w)
	}
}

// dequeueDone removes completed entries from the heads of the queues.
func (r *runner) dequeueDone() {
	kept := r.activeKeys[:0]
	for _, key := range r.activeKeys {
		queue := r.queues[key]
		for len(queue) > 0 && queue[0].done {
			queue = queue[1:]
		}
		if len(queue) == 0 {
			delete(r.queues, key)
			continue
		}
		r.queues[key] = queue
		kept = append(kept, key)
	}
	r.activeKeys = kept
}

// restoreToQueue puts a completed entry back at the head of its queue.
func (r *runner) restoreToQueue(w *workItem) {
	key := orderingKeyOf(w.Entry)
	queue := r.queues[key]
	if slices.Contains(queue, w) {
		return
	}
	if len(queue) == 0 {
		r.activeKeys = append(r.activeKeys, key)
	}
	r.queues[key] = append([]*workItem{w}, queue...)
}
