package fanout

import (
	"slices"

	"retwis/internal/outbox"
)

// redeliver delivers lost entries again. Newer posts of an author may already be in the lists.
// Lost posts are therefore merged: the repair of the author's first lost post merges all.
func (r *runner) redeliver(result trimResult) {
	lost := map[*workItem][]*target{}
	for _, i := range result.lost {
		d := result.delivered[i]
		d.target.done, d.target.progress = false, ""
		lost[d.item] = append(lost[d.item], d.target)
	}
	repairs := map[orderingKey]*workItem{}
	var undone []*workItem
	for _, w := range r.entries[:result.entries] {
		targets := lost[w]
		if targets == nil {
			continue
		}
		undone = append(undone, w)
		w.done, w.failures, w.rechecks = false, 0, 0
		r.wait(w, 1)
		switch w.Kind {
		case outbox.KindDelete:
		case outbox.KindPost, outbox.KindRepair:
			w.Kind, w.progress = outbox.KindRepair, repairProgress{redelivery: true}
			key := orderingKeyOf(w.Entry)
			if repairs[key] == nil {
				repairs[key] = w
			}
			for _, t := range targets {
				if !t.single() {
					repairs[key].extendRepair(t)
				}
			}
		default:
			w.targets = nil
		}
	}
	for _, w := range slices.Backward(undone) {
		r.restoreToQueue(w)
	}
}

// extendRepair adds the timelines of another target to a repair, unless it covers them.
func (w *workItem) extendRepair(other *target) {
	same := func(t *target) bool { return t.partition == other.partition && t.to == other.to }
	if slices.ContainsFunc(w.progress.remaining, same) {
		return
	}
	i := slices.IndexFunc(w.targets, same)
	if i < 0 {
		i = len(w.targets)
		w.targets = append(w.targets, &target{partition: other.partition, to: other.to})
	}
	w.progress.remaining = append(w.progress.remaining, w.targets[i])
}

// repairLate turns a post into a repair of its late targets, the only ones that are not done.
func (w *workItem) repairLate() {
	w.Kind, w.progress = outbox.KindRepair, repairProgress{redelivery: true}
	for _, t := range w.targets {
		if t.late {
			t.late = false
			w.extendRepair(t)
		}
	}
}
