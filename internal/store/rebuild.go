package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Rebuild adds the missing posts to a home or a list, so that it holds the newest posts of its sources, and of the owner
// of a home. It does not move existing entries. Concurrent callers in this process share one rebuild. It returns
// [retwis.ErrNotFound] if there is no such user or list.
func (s *Timelines) Rebuild(ctx context.Context, id retwis.TimelineID) error {
	for {
		own := false
		_, err, _ := s.rebuilds.Do(id.String(), func() (any, error) {
			own = true
			return nil, s.rebuild(ctx, id)
		})
		if own || ctx.Err() != nil || !endsWithCaller(err) {
			return err
		}
	}
}

// endsWithCaller reports whether a shared rebuild failed for a reason of the caller that ran it, who has left or has no budget. Other callers may
// still succeed.
func endsWithCaller(err error) bool {
	var refused *retwis.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &refused) && refused.Code == retwis.CodeRateLimited
}

func (s *Timelines) rebuild(ctx context.Context, id retwis.TimelineID) error {
	ctx, done, err := cost.Rebuild(ctx)
	if err != nil {
		return err //nolint:wrapcheck // ctx is done
	}
	defer done()
	const tries = 5 // concurrent changes are rare
	for range tries {
		b, err := s.beginBuild(ctx, id)
		if errors.Is(err, retwis.ErrNotFound) {
			return err
		}
		ended := false
		if err == nil {
			ended, err = s.endBuild(ctx, b)
		}
		if err != nil {
			return fmt.Errorf("rebuild timeline %s: %w", id, err)
		}
		if ended {
			return nil
		}
	}
	return fmt.Errorf("rebuild timeline %s: %w", id, errConcurrentChange)
}

// errConcurrentChange is the error of a rebuild whose sources changed during each try. The list stays marked as being
// built, so the next read tries again.
var errConcurrentChange = errors.New("its sources changed during each try")

// build is a rebuild of a home or a list in progress.
type build struct {
	id      retwis.TimelineID
	epoch   string // of the list when the build began
	origins origins
	posts   []authored
	all     bool // no older posts exist
}

// beginBuild creates a missing list, so that fan-out pushes new posts to it, and reads the older posts.
func (s *Timelines) beginBuild(ctx context.Context, id retwis.TimelineID) (build, error) {
	p := s.db.OfTimeline(id)
	b := build{id: id, origins: origins{}}
	var err error
	b.epoch, err = s.db.Do(ctx, rdb.Call{
		Script: script.BeginBuild,
		Keys:   []string{p.Timeline(id).Entries(), p.Timeline(id).Epoch(), p.LargeAuthors(), p.OnlineNodes()},
		Args:   s.pullArgs(id),
	}).Text()
	if errors.Is(err, redis.Nil) {
		return b, retwis.ErrNotFound
	}
	if err != nil {
		return b, err
	}
	s.metrics.rebuilds.Inc()
	b.posts, b.all, err = s.mergeProfiles(ctx, id, 0, true, s.options.HomeCap, b.origins)
	if err != nil {
		return b, err
	}
	return b, s.verifyPosts(ctx, b.posts)
}

// verifyPosts verifies that posts which were read for a merge are durable, as [rdb.DB.VerifyRecords] does. A failover may
// lose others, and a list would hold posts that do not exist.
func (s *Timelines) verifyPosts(ctx context.Context, posts []authored) error {
	newest := map[int]retwis.PostID{} // the others of its partition were written before
	for _, p := range posts {
		number := s.db.OfUser(p.author).Number
		newest[number] = max(newest[number], p.element.ID)
	}
	records := map[int]rdb.Record{}
	for number, post := range newest {
		records[number] = func(ctx context.Context, pipe redis.Pipeliner) (redis.Cmder, func() bool) {
			cmd := pipe.Exists(ctx, s.db.Partition(number).Post(post))
			return cmd, func() bool { return cmd.Val() == 1 }
		}
	}
	return s.db.VerifyRecords(ctx, records)
}

// endBuild merges the posts into the list. It reports false and does nothing if the posts may be incomplete because of
// a concurrent change: the build has to begin again.
func (s *Timelines) endBuild(ctx context.Context, b build) (bool, error) {
	added, err := s.db.Do(ctx, s.mergeCall(b.id, "whole", "", b.epoch, b.all, b.origins, b.posts)).Int()
	return added != -2, err
}

// mergeCall returns the call that merges posts into a timeline.
// all says that posts are complete, not only the newest ones.
func (s *Timelines) mergeCall(id retwis.TimelineID, mode, author, score string, all bool, origins origins, posts []authored) rdb.Call {
	p := s.db.OfTimeline(id)
	c := rdb.Call{
		Script: script.Merge,
		Keys:   []string{p.Timeline(id).Entries(), p.Timeline(id).Sources(), p.Timeline(id).Epoch(), p.Online(), p.OnlineNodes()},
		Args: []any{
			id.String(), mode, s.options.HomeCap, author, score, all, s.db.Publish, p.Prefix(rdb.LiveChannels), homeOwner(id),
			len(s.db.Partitions()),
		},
	}
	for number, o := range origins {
		c.Keys = append(c.Keys, p.Progress(number), p.MergeMarks(number), p.OlderMergeMarks(number))
		c.Args = append(c.Args, number, o.clock, o.watermark, o.last)
	}
	for _, post := range posts {
		c.Args = append(c.Args, post.element.String(), post.author.String())
	}
	return c
}

// Recreate deletes the entries of a home or a list and rebuilds it. Subscribers receive a change message. It returns
// [retwis.ErrNotFound] if there is no such user or list.
func (s *Timelines) Recreate(ctx context.Context, id retwis.TimelineID) error {
	exists, err := s.recreate(ctx, id, "0")
	if err == nil && !exists {
		return retwis.ErrNotFound
	}
	return err
}

// RecreateIfStored recreates the timeline like Recreate, if its list is stored, and reports whether it has one.
func (s *Timelines) RecreateIfStored(ctx context.Context, id retwis.TimelineID) (bool, error) {
	return s.recreate(ctx, id, "1")
}

func (s *Timelines) recreate(ctx context.Context, id retwis.TimelineID, ifStored string) (bool, error) {
	p := s.db.OfTimeline(id)
	exists, err := s.db.Do(ctx, rdb.Call{
		Script: script.RestartBuild,
		Keys:   []string{p.Timeline(id).Entries(), p.Timeline(id).Epoch(), p.Online(), p.OnlineNodes()},
		Args:   []any{id.String(), ifStored, s.db.Publish, p.Prefix(rdb.LiveChannels)},
	}).Bool()
	if err != nil {
		return false, fmt.Errorf("recreate timeline %s: %w", id, err)
	}
	if !exists {
		return false, nil
	}
	// Do not share a running rebuild: it may have read the list before it was emptied.
	err = s.rebuild(ctx, id)
	if errors.Is(err, retwis.ErrNotFound) {
		return false, nil // the user or the list was deleted concurrently
	}
	return true, err
}
