package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Rebuild makes a home or a list hold what its definition says: the newest posts of those
// it follows, a home also its owner's. Posts that are there stay at their places. It may be
// repeated, and runs once for any number of callers in this process. Without such a user
// or list the error is [retwis.ErrNotFound].
func (s *Timelines) Rebuild(ctx context.Context, id retwis.TimelineID) error {
	_, err, _ := s.rebuilds.Do(id.String(), func() (any, error) {
		return nil, s.rebuild(ctx, id)
	})
	return err
}

func (s *Timelines) rebuild(ctx context.Context, id retwis.TimelineID) error {
	const tries = 5 // what it follows rarely changes meanwhile
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

// errConcurrentChange says that what a timeline follows changed time and again while it was built.
// Until a building ends, its readers gather what it lacks.
var errConcurrentChange = errors.New("what it follows changes all the time")

// build is the building of a home or a list, with what was gathered for it.
type build struct {
	id         retwis.TimelineID
	generation string // of the list when it began
	origins    origins
	posts      []authored
	all        bool // nothing older exists
}

// beginBuild opens a list, so that what is posted from now on arrives there, and gathers
// what was posted before.
func (s *Timelines) beginBuild(ctx context.Context, id retwis.TimelineID) (build, error) {
	p := s.db.OfTimeline(id)
	b := build{id: id, origins: origins{}}
	var err error
	b.generation, err = s.db.Do(ctx, rdb.Call{
		Script: script.BeginBuild, Keys: []string{p.Timeline(id).Entries(), p.Timeline(id).Epoch(), p.LargeAuthors()}, Args: []any{homeOwner(id), p.Tag + ":"},
	}).Text()
	if errors.Is(err, redis.Nil) {
		return b, retwis.ErrNotFound
	}
	if err != nil {
		return b, err
	}
	s.metrics.rebuilds.Inc()
	b.posts, b.all, err = s.mergeProfiles(ctx, id, 0, true, s.options.HomeCap, b.origins)
	return b, err
}

// endBuild merges what was gathered into the list. It reports false, and does nothing, where
// that may lack something by now: the building has to begin again.
func (s *Timelines) endBuild(ctx context.Context, b build) (bool, error) {
	added, err := s.db.Do(ctx, s.mergeCall(b.id, "whole", "", b.generation, b.all, b.origins, b.posts)).Int()
	return added != -2, err
}

// mergeCall merges posts into a timeline: all that there are, or only the newest of them.
func (s *Timelines) mergeCall(id retwis.TimelineID, mode, author, as string, all bool, origins origins, posts []authored) rdb.Call {
	p := s.db.OfTimeline(id)
	nothingOlder := "0"
	if all {
		nothingOlder = "1"
	}
	c := rdb.Call{
		Script: script.Merge,
		Keys:   []string{p.Timeline(id).Entries(), p.Timeline(id).Sources(), p.Timeline(id).Epoch(), p.Online(), p.OnlineNodes()},
		Args: []any{
			id.String(), mode, s.options.HomeCap, author, as, nothingOlder, s.db.Publish, p.Prefix(rdb.LiveChannels), homeOwner(id),
		},
	}
	for number, o := range origins {
		c.Keys = append(c.Keys, p.Progress(number), p.MergeMarks(number), p.OlderMergeMarks(number))
		c.Args = append(c.Args, number, o.clock, o.watermark, o.last)
	}
	for _, post := range posts {
		c.Args = append(c.Args, post.post.String(), post.author.String())
	}
	return c
}

// Recreate takes a home's or a list's entries away and gathers them anew. Subscribers are told
// that the timeline changed, and whoever reads meanwhile builds it. Without such a user or
// list the error is [retwis.ErrNotFound].
func (s *Timelines) Recreate(ctx context.Context, id retwis.TimelineID) error {
	there, err := s.recreate(ctx, id, "0")
	if err == nil && !there {
		return retwis.ErrNotFound
	}
	return err
}

// RecreateIfStored does the same for a timeline that is kept ready, and reports whether it is.
// One that its next reader builds stays away.
func (s *Timelines) RecreateIfStored(ctx context.Context, id retwis.TimelineID) (bool, error) {
	return s.recreate(ctx, id, "1")
}

func (s *Timelines) recreate(ctx context.Context, id retwis.TimelineID, ifKept string) (bool, error) {
	p := s.db.OfTimeline(id)
	there, err := s.db.Do(ctx, rdb.Call{
		Script: script.RestartBuild,
		Keys:   []string{p.Timeline(id).Entries(), p.Timeline(id).Epoch(), p.Online(), p.OnlineNodes()},
		Args:   []any{id.String(), ifKept, s.db.Publish, p.Prefix(rdb.LiveChannels)},
	}).Bool()
	if err != nil {
		return false, fmt.Errorf("renew timeline %s: %w", id, err)
	}
	if !there {
		return false, nil
	}
	// Not by a building that is under way: it may have gathered before the entries went.
	err = s.rebuild(ctx, id)
	if errors.Is(err, retwis.ErrNotFound) {
		return false, nil // the user or the list went meanwhile
	}
	return true, err
}
