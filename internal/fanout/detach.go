package fanout

import (
	"context"

	"retwis/internal/retwis"
)

// maxDetachCalls is how many calls that leave something to do one entry of a parting makes.
// Then it queues itself again, behind what has come meanwhile: no more than so many entries
// behind an unfinished one are carried out.
const maxDetachCalls = 100

// detachFollowers cuts an author off from everybody, once everybody has been told that the author's
// posts are deleted. It goes on wherever an earlier try broke off.
func (r *runner) detachFollowers(ctx context.Context, w *workItem) error {
	there, err := r.store.BeginPart(ctx, w.Author)
	if !there || err != nil {
		return err
	}
	calls := 0
	untilDone := func(step func() (bool, error)) (bool, error) {
		for calls < maxDetachCalls {
			if done, err := step(); done || err != nil {
				return done, err
			}
			calls++
		}
		return false, r.store.CarryOnPart(ctx, w.Author, w.Step)
	}
	done, err := untilDone(func() (bool, error) { return r.store.PartFollowing(ctx, w.Author) })
	if !done || err != nil {
		return err
	}
	reach, err := r.store.Reach(ctx, []retwis.UserID{w.Author})
	if err != nil {
		return err
	}
	for partition := range reach[0].Followers {
		done, err := untilDone(func() (bool, error) {
			return r.store.PartFollowers(ctx, w.Author, partition, retwis.ToFollowers)
		})
		if !done || err != nil {
			return err
		}
	}
	for partition := range reach[0].Lists {
		done, err := untilDone(func() (bool, error) {
			return r.store.PartFollowers(ctx, w.Author, partition, retwis.ToLists)
		})
		if !done || err != nil {
			return err
		}
	}
	return r.store.Forget(ctx, w.Author)
}
