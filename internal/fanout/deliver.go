package fanout

import (
	"context"
	"maps"
	"time"

	"retwis/internal/retwis"
)

// deliver makes one round of calls for entries, in turn, within the bounds of a round.
func (r *runner) deliver(ctx context.Context, ready []*work) {
	for _, w := range ready {
		r.begin(ctx, w)
	}
	if err := r.aim(ctx, ready); err != nil {
		for _, w := range ready {
			if w.targets == nil {
				r.failed(ctx, w, err)
			}
		}
	}

	type step struct {
		*work
		*target
	}
	var steps []step
	var calls []retwis.Delivery
	cost := 0
	// First every entry has a share, so that small authors come to their turn; then the
	// large ones take what is left of the round.
	for _, share := range []int{maxShare, maxPushes} {
		for _, w := range ready {
			for spent := 0; w.next < len(w.targets) && spent < share && cost < maxPushes && len(calls) < maxCalls; w.next++ {
				t := w.targets[w.next]
				if t.done {
					continue
				}
				price := callCost + min(t.expected, 500)
				spent += price
				cost += price
				steps = append(steps, step{w, t})
				calls = append(calls, retwis.Delivery{
					Entry: w.OutboxEntry, Partition: t.partition, To: t.to, User: t.user, Position: t.position,
				})
			}
		}
	}
	for _, w := range ready {
		if w.next == len(w.targets) {
			w.next = 0
		}
	}
	if len(calls) == 0 {
		return
	}
	failed := map[*work]error{}
	start, shares := time.Now(), map[*work]share{}
	for i, result := range r.store.Deliver(inRound(ctx, ready), calls) {
		w, t := steps[i].work, steps[i].target
		if w.span != nil {
			s := shares[w]
			shares[w] = share{s.calls + 1, s.pushed + result.Pushed}
		}
		if result.Err != nil {
			failed[w] = result.Err
			continue
		}
		r.counts.calls.Add(1)
		r.counts.pushed.Add(int64(result.Pushed))
		if result.Position == t.position {
			continue
		}
		if result.Pushed == 0 && t.position != "" && result.Position != retwis.DeliveryDone {
			r.counts.moved.Add(1)
		}
		t.position = result.Position
		t.done = result.Position == retwis.DeliveryDone
	}
	delivered(ctx, start, shares)
	for _, s := range steps {
		w := s.work
		if w.done {
			continue
		}
		if err, ok := failed[w]; ok {
			delete(failed, w)
			r.failed(ctx, w, err)
			continue
		}
		if allDone(w.targets) {
			r.complete(w)
		}
	}
}

// aim finds out where entries go. The reach is read after the post was made: whoever
// enters it later is back-filled with the post.
func (r *runner) aim(ctx context.Context, ready []*work) error {
	var unaimed []*work
	var authors []retwis.UserID
	for _, w := range ready {
		if w.targets == nil {
			unaimed = append(unaimed, w)
			authors = append(authors, w.Author)
		}
	}
	if len(unaimed) == 0 {
		return nil
	}
	reach, err := r.store.Reach(ctx, authors)
	if err != nil {
		return err
	}
	for i, w := range unaimed {
		if w.Kind == retwis.OutboxPost {
			w.targets = r.targetsOfPost(w.OutboxEntry, reach[i])
		} else {
			w.targets = r.targetsOfDelete(w.OutboxEntry, reach[i])
		}
	}
	return nil
}

func (r *runner) targetsOfPost(e retwis.OutboxEntry, reach retwis.Reach) []*target {
	targets := []*target{{partition: r.store.PublicPartition(), to: retwis.ToPublic}}
	for _, user := range e.Mentions {
		targets = append(targets, &target{partition: r.store.PartitionOfUser(user), to: retwis.ToMentioned, user: user})
	}
	for partition, followers := range reach.Followers {
		if reach.Large {
			targets = append(targets, &target{partition: partition, to: retwis.ToReaders})
		} else {
			targets = append(targets, &target{partition: partition, expected: followers})
		}
	}
	for partition := range reach.Lists {
		targets = append(targets, &target{partition: partition, to: retwis.ToLists})
	}
	return targets
}

// targetsOfDelete are the partitions that the post may have come to: each has removals of
// its own, which the call for the followers enters. It tells single timelines besides, so
// that there is no call of their own for the public timeline and for mentions.
func (r *runner) targetsOfDelete(e retwis.OutboxEntry, reach retwis.Reach) []*target {
	expected := map[int]int{r.store.PublicPartition(): 0}
	for _, user := range e.Mentions {
		expected[r.store.PartitionOfUser(user)] = 0
	}
	for partition := range reach.Lists {
		expected[partition] = 0
	}
	maps.Copy(expected, reach.Followers)
	var targets []*target
	for partition, followers := range expected {
		targets = append(targets, &target{partition: partition, expected: followers})
	}
	for partition := range reach.Lists {
		targets = append(targets, &target{partition: partition, to: retwis.ToLists})
	}
	return targets
}

func allDone(targets []*target) bool {
	for _, t := range targets {
		if !t.done {
			return false
		}
	}
	return true
}
