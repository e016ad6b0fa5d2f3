package engine

import (
	"context"
	"fmt"
	"math/rand/v2"

	"retwis/internal/bench/measure"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
	"retwis/internal/store/bulk"
)

// Memory measures what entries of home timelines and follows take in Redis, with all overhead. The
// baselines are sorted sets with as many members in Redis' default encoding.
func Memory(ctx context.Context, r *measure.Run) error {
	users, follows, entries := r.Size(5000, 50), r.Size(200, 10), r.Size(800, 20)
	w, err := world.Start(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	people, err := w.AddUsers(ctx, "user", users)
	if err != nil {
		return err
	}
	_, stop := w.StartWorker(ctx)
	defer stop()
	if err := w.AwaitDelivery(ctx); err != nil {
		return err
	}

	perEntry, err := growth(ctx, w, users*entries, func() error { return w.FillHomes(ctx, entries, retwis.Plain) })
	if err != nil {
		return err
	}
	beside, err := sortedSetMember(ctx, w, entries)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: fmt.Sprintf("Redis memory per entry of a home timeline of %d", entries), Unit: "bytes", Value: perEntry,
		Goal: measure.AtMost(11), Beside: []measure.Baseline{beside},
	})

	for _, of := range []struct {
		name      string
		elementOf func(retwis.PostID) retwis.Element
	}{
		{"reply", func(id retwis.PostID) retwis.Element { return retwis.NewElement(id, people[0], people[1], 0) }},
		{"repost", func(id retwis.PostID) retwis.Element { return retwis.NewElement(id, people[0], 0, id-1) }},
	} {
		more := entries / 4
		bytes, err := growth(ctx, w, users*more, func() error { return w.FillHomes(ctx, more, of.elementOf) })
		if err != nil {
			return err
		}
		r.Add(measure.Figure{Name: "Redis memory per " + of.name + " of a home timeline", Unit: "bytes", Value: bytes, Goal: measure.AtMost(70)})
	}

	if err := addFollows(ctx, w, people, follows); err != nil {
		return err
	}
	var directions int64
	for _, pattern := range []string{"*:following:*", "*:fans:*"} {
		bytes, err := w.MemoryOf(ctx, pattern)
		if err != nil {
			return err
		}
		directions += bytes
	}
	if beside, err = sortedSetMember(ctx, w, follows); err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: fmt.Sprintf("Redis memory per direction of a follow, users with %d", follows), Unit: "bytes",
		Value: float64(directions) / float64(2*users*follows), Goal: measure.AtMost(25), Beside: []measure.Baseline{beside},
	})
	return nil
}

// addFollows makes each user follow others, chosen at random.
func addFollows(ctx context.Context, w *world.World, people []retwis.UserID, follows int) error {
	const batch = 50
	err := world.Concurrently(ctx, len(people)/batch, func(ctx context.Context, n int) error {
		all := make([]retwis.Followings, batch)
		for k := range all {
			i := n*batch + k
			all[k].Reader = people[i]
			for _, j := range rand.New(rand.NewPCG(1, uint64(i))).Perm(len(people))[:follows] {
				all[k].Authors = append(all[k].Authors, people[j]) // a follow of oneself is ignored
			}
		}
		_, err := bulk.New(w.Store).FollowAll(ctx, all)
		return err
	})
	if err != nil {
		return err
	}
	return w.AwaitDelivery(ctx)
}

// sortedSetMember measures a member of a sorted set in the default encoding, with all overhead.
func sortedSetMember(ctx context.Context, w *world.World, members int) (measure.Baseline, error) {
	const sets = 100
	beside := measure.Baseline{Name: fmt.Sprintf("sorted sets of %d", members)}
	err := withDefaultSortedSets(ctx, w, func() (err error) {
		beside.Value, err = growth(ctx, w, sets*members, func() error { return fillSortedSets(ctx, w, sets, members) })
		return err
	})
	if err != nil {
		return beside, err
	}
	return beside, removeSortedSets(ctx, w, sets)
}

// growth returns by how many bytes the data set grows for each of n things that do adds.
func growth(ctx context.Context, w *world.World, n int, do func() error) (float64, error) {
	before, err := w.Memory(ctx)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	if err := w.AwaitDelivery(ctx); err != nil {
		return 0, err
	}
	after, err := w.Memory(ctx)
	return float64(after-before) / float64(n), err
}
