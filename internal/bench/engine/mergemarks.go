package engine

import (
	"context"
	"errors"
	"fmt"

	"retwis/internal/bench/measure"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// MergeMarks measures the delivery of posts to 10 000 followers whose homes were built while a post of the author waited in
// the outbox, so that each home has a merge mark. The baseline is the same database once no mark remains.
func MergeMarks(ctx context.Context, r *measure.Run) error {
	const kept = 800 // entries of each home timeline
	followers, posts := r.Size(10_000, 20), r.Size(100, 5)
	w, author, err := startWithAuthor(ctx, followers)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := deliver(ctx, w, author, 4, followers); err != nil { // to warm up
		return err
	}
	if err := w.AddPost(ctx, author); err != nil {
		return err
	}
	if err := buildHomes(ctx, w, author, followers); err != nil {
		return err
	}
	if err := w.FillHomes(ctx, kept, retwis.Plain); err != nil {
		return err
	}
	if marks, err := markKeys(ctx, w); err != nil || len(marks) == 0 {
		return errors.Join(errors.New("no home has a merge mark"), err)
	}
	marked, err := deliverBehind(ctx, w, author, posts, followers, 1)
	if err != nil {
		return err
	}
	if marks, err := markKeys(ctx, w); err != nil || len(marks) > 0 {
		return errors.Join(fmt.Errorf("%d keys of merge marks remain", len(marks)), err)
	}
	unmarked, err := deliver(ctx, w, author, posts, followers)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: fmt.Sprintf("fan-out to %d followers with merge marks", followers), Unit: "deliveries/s", Value: marked,
		Beside: []measure.Baseline{{Name: "no merge mark", Value: unmarked, Goal: measure.AtLeast(0.8)}},
	})
	return nil
}

func markKeys(ctx context.Context, w *world.World) ([]string, error) {
	return w.Raw.Keys(ctx, "*:merge_marks:*").Result()
}

// buildHomes builds the homes of an author's followers again.
func buildHomes(ctx context.Context, w *world.World, author retwis.UserID, followers int) error {
	keys, err := w.Raw.Keys(ctx, "*:fans:"+author.String()).Result()
	if err != nil {
		return fmt.Errorf("find the followers: %w", err)
	}
	var readers []retwis.UserID
	for _, key := range keys {
		members, err := w.Raw.ZRange(ctx, key, 0, -1).Result()
		if err != nil {
			return fmt.Errorf("read the followers: %w", err)
		}
		for _, member := range members {
			reader, err := retwis.ParseUserID(member)
			if err != nil {
				return err
			}
			readers = append(readers, reader)
		}
	}
	if len(readers) != followers {
		return fmt.Errorf("%d followers, want %d", len(readers), followers)
	}
	return world.Concurrently(ctx, len(readers), func(ctx context.Context, i int) error {
		return w.Timelines.Recreate(ctx, retwis.Home(readers[i]))
	})
}
