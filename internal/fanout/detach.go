package fanout

import (
	"context"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// maxDetachCalls bounds the calls that one entry makes to detach followers. The entry then
// queues a successor at the end of the outbox: the runner holds a bounded number of entries
// behind an unfinished one, so a long task would block the outbox.
const maxDetachCalls = 100

// detachFollowers removes all edges of an author whose account is being deleted, after the
// deletions of the author's posts have been delivered. It continues an interrupted attempt.
func (r *runner) detachFollowers(ctx context.Context, w *workItem) error {
	there, err := r.store.BeginDetach(ctx, w.Author)
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
		return false, r.store.ContinueDetach(ctx, w.Author, w.Step)
	}
	done, err := untilDone(func() (bool, error) { return r.store.DetachFollowing(ctx, w.Author) })
	if !done || err != nil {
		return err
	}
	if done, err = untilDone(func() (bool, error) { return r.store.DetachLikes(ctx, w.Author) }); !done || err != nil {
		return err
	}
	partitions, err := r.store.AuthorPartitions(ctx, []retwis.UserID{w.Author})
	if err != nil {
		return err
	}
	for partition := range partitions[0].Followers {
		done, err := untilDone(func() (bool, error) {
			return r.store.DetachFollowers(ctx, w.Author, partition, outbox.TargetFollowers)
		})
		if !done || err != nil {
			return err
		}
	}
	for partition := range partitions[0].Lists {
		done, err := untilDone(func() (bool, error) {
			return r.store.DetachFollowers(ctx, w.Author, partition, outbox.TargetLists)
		})
		if !done || err != nil {
			return err
		}
	}
	return r.store.FinishAccountDeletion(ctx, w.Author)
}
