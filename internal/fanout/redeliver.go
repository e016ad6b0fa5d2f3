package fanout

import (
	"slices"

	"retwis/internal/retwis"
)

// redeliver has what is lost carried out again. Newer posts of their author may have come
// before the posts by now: so these are merged, all of an author's by the first's repair.
func (r *runner) redeliver(result trimResult) {
	lost := map[*workItem][]*target{}
	for _, i := range result.lost {
		c := result.delivered[i]
		c.target.done, c.target.position = false, ""
		lost[c.work] = append(lost[c.work], c.target)
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
		switch w.Kind {
		case retwis.OutboxDelete:
		case retwis.OutboxPost, retwis.OutboxRepair:
			w.Kind, w.progress = retwis.OutboxRepair, repairProgress{redelivery: true}
			l := orderingKeyOf(w.OutboxEntry)
			if repairs[l] == nil {
				repairs[l] = w
			}
			for _, t := range targets {
				if !t.single() {
					repairs[l].extendRepair(t)
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

// extendRepair adds to a repair the timelines that another target is about, if it lacks them.
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
