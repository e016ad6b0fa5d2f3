package fanout

import (
	"retwis/internal/retwis"
	"slices"
)

// orderingKey keeps the order of what must not overtake: the posts of one author, the changes to
// what one timeline follows, or what concerns one account or one list as such. Only one
// of the fields is set.
type orderingKey struct {
	author   retwis.UserID
	timeline retwis.TimelineID
	account  retwis.UserID
	list     retwis.ListID
}

func orderingKeyOf(e retwis.OutboxEntry) orderingKey {
	switch e.Kind {
	case retwis.OutboxPost, retwis.OutboxDelete, retwis.OutboxRepair, retwis.OutboxPart:
		return orderingKey{author: e.Author}
	case retwis.OutboxBackfill, retwis.OutboxPurge:
		return orderingKey{timeline: e.Timeline}
	case retwis.OutboxUnlist:
		return orderingKey{list: e.List}
	default:
		return orderingKey{account: e.User}
	}
}

func (r *runner) admit(entries []retwis.OutboxEntry) {
	for _, e := range entries {
		if e.Kind == retwis.OutboxPost && r.repairBelow != "" && retwis.EarlierEntry(e.ID, r.repairBelow) {
			e.Kind = retwis.OutboxRepair // newer ones of its author may have come before it
		}
		r.last = e.ID
		w := &workItem{OutboxEntry: e}
		l := orderingKeyOf(e)
		if len(r.queues[l]) == 0 {
			r.activeKeys = append(r.activeKeys, l)
		}
		r.entries = append(r.entries, w)
		r.queues[l] = append(r.queues[l], w)
	}
}

// dequeueDone takes what is done off the lanes.
func (r *runner) dequeueDone() {
	kept := r.activeKeys[:0]
	for _, l := range r.activeKeys {
		queue := r.queues[l]
		for len(queue) > 0 && queue[0].done {
			queue = queue[1:]
		}
		if len(queue) == 0 {
			delete(r.queues, l)
			continue
		}
		r.queues[l] = queue
		kept = append(kept, l)
	}
	r.activeKeys = kept
}

// restoreToQueue puts an entry that was carried out before all others of its lane.
func (r *runner) restoreToQueue(w *workItem) {
	l := orderingKeyOf(w.OutboxEntry)
	queue := r.queues[l]
	if slices.Contains(queue, w) {
		return
	}
	if len(queue) == 0 {
		r.activeKeys = append(r.activeKeys, l)
	}
	r.queues[l] = append([]*workItem{w}, queue...)
}
