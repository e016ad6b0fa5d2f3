package fanout

import (
	"context"
	"math"
	"time"

	"retwis/internal/outbox"
)

// deliver makes the calls of one round. It takes the entries in the given order, within the
// limits of a round, and notes which it has served.
func (r *runner) deliver(ctx context.Context, ready []*workItem) {
	for _, w := range ready {
		r.startSpan(ctx, w)
	}
	if err := r.resolveTargets(ctx, ready); err != nil {
		for _, w := range ready {
			if w.targets == nil {
				r.fail(ctx, w, err)
			}
		}
	}

	r.store.SetCrowded(r.waiting.crowded())
	steps, calls := r.pack(ready)
	if len(calls) == 0 {
		return
	}
	failed := map[*workItem]error{}
	start, shares := time.Now(), map[*workItem]roundShare{}
	for i, result := range r.store.Deliver(roundContext(ctx, ready), calls) {
		w := steps[i].workItem
		if w.span != nil {
			s := shares[w]
			shares[w] = roundShare{s.calls + 1, s.pushed + result.Pushed}
		}
		if result.Err != nil {
			failed[w] = result.Err
			continue
		}
		r.delivered(steps[i], result)
	}
	recordDeliverySpans(ctx, start, shares)
	for _, s := range steps {
		w := s.workItem
		if w.done {
			continue
		}
		if err, ok := failed[w]; ok {
			delete(failed, w)
			r.fail(ctx, w, err)
			continue
		}
		switch {
		case allDone(w.targets):
			r.complete(w)
		case onlyLate(w.targets):
			w.repairLate()
		}
	}
}

// step is a call of a round: for one target of an entry.
type step struct {
	*workItem
	*target
}

// pack returns the calls of a round for entries in the given order, and notes which it serves. Each entry first has a bounded share of the round, so that
// small authors do not wait for large ones. The second pass gives the rest of the round to the large authors.
func (r *runner) pack(ready []*workItem) (steps []step, calls []outbox.Delivery) {
	work, atMost := 0, math.MaxInt
	if r.store.BesideOperations() {
		atMost = r.store.WorkAtOnce()
	}
	for _, share := range []int{maxEntryPushes, math.MaxInt} {
		for _, w := range ready {
			begin, searches := len(calls), r.turns.searches(w)
			for spent := 0; w.next < len(w.targets) && spent < share && len(calls) < maxCalls; w.next++ {
				t := w.targets[w.next]
				if t.done || t.late {
					continue
				}
				if w.waits(t) {
					w.next = len(w.targets) // begin again in the next round
					break
				}
				more := w.work(t, searches)
				if work > 0 && more > atMost-work {
					break
				}
				spent += more
				work += more
				steps = append(steps, step{w, t})
				calls = append(calls, outbox.Delivery{
					Entry: w.Entry, Partition: t.partition, To: t.to, User: t.user, Timeline: t.timeline, Progress: t.progress,
					Chunk: w.chunk(t), Silent: w.silent, Work: more,
				})
			}
			if len(calls) > begin {
				r.turns.serve(w)
			}
		}
	}
	for _, w := range ready {
		if w.next == len(w.targets) {
			w.next = 0
		}
	}
	return steps, calls
}

// delivered notes the result of a call.
func (r *runner) delivered(s step, result outbox.Result) {
	r.counts.calls.Add(1)
	r.counts.pushed.Add(int64(result.Pushed))
	w, t := s.workItem, s.target
	pause := time.Duration(result.Announced)*announceRest + time.Duration(result.Visited)*visitRest
	if w.Reposted != 0 {
		pause += r.turns.perMaster(r.store.RestAfterSearches(result.Searched))
	}
	r.turns.rest(w.actor.Network, pause)
	r.turns.noteSearches(w, result)
	if result.Progress == outbox.Late {
		t.late = true
		return
	}
	if result.Progress == t.progress {
		return
	}
	if result.Pushed == 0 && !w.isDeletion() && t.progress != "" && result.Progress != outbox.Done {
		r.counts.redeliveries.Add(1)
	}
	t.progress, t.done = result.Progress, result.Progress == outbox.Done
	w.failures, w.rejections = 0, 0
}
