package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// Rebuild makes a home or a list hold what its definition says: the newest posts of those
// it follows, a home also its owner's. Posts that are there stay at their places. It may be
// repeated, and runs once for any number of callers in this process. Without such a user
// or list the error is [retwis.ErrNotFound].
func (s *Store) Rebuild(ctx context.Context, id retwis.TimelineID) error {
	_, err, _ := s.rebuilds.Do(id.String(), func() (any, error) {
		return nil, s.rebuild(ctx, id)
	})
	return err
}

func (s *Store) rebuild(ctx context.Context, id retwis.TimelineID) error {
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
	return fmt.Errorf("rebuild timeline %s: %w", id, errOvertaken)
}

// errOvertaken says that what a timeline follows changed time and again while it was built.
// Until a building ends, its readers gather what it lacks.
var errOvertaken = errors.New("what it follows changes all the time")

// build is the building of a home or a list, with what was gathered for it.
type build struct {
	id         retwis.TimelineID
	generation string // of the list when it began
	posts      []authored
	all        bool // nothing older exists
}

// beginBuild opens a list, so that what is posted from now on arrives there, and gathers
// what was posted before.
func (s *Store) beginBuild(ctx context.Context, id retwis.TimelineID) (build, error) {
	p := s.ofTimeline(id)
	b := build{id: id}
	var err error
	b.generation, err = s.do(ctx, call{
		s.scripts.beginBuild, []string{p.entries(id), p.generations(id), p.large()}, []any{reader(id), p.tag + ":"},
	}).Text()
	if errors.Is(err, redis.Nil) {
		return b, retwis.ErrNotFound
	}
	if err != nil {
		return b, err
	}
	s.metrics.rebuilds.Inc()
	b.posts, b.all, err = s.pull(ctx, id, 0, true, s.options.HomeCap)
	return b, err
}

// endBuild merges what was gathered into the list. It reports false, and does nothing, where
// that may lack something by now: the building has to begin again.
func (s *Store) endBuild(ctx context.Context, b build) (bool, error) {
	added, err := s.do(ctx, s.mergeCall(b.id, "whole", "", b.generation, b.all, b.posts)).Int()
	return added != -2, err
}

// Backfill merges an author's newest posts into a home or a list that began to follow the
// author. It acts only while the follow is the one of the given score; 0 stands for any. A
// home that is being built gets them by that.
func (s *Store) Backfill(ctx context.Context, id retwis.TimelineID, author retwis.UserID, score int64) error {
	found, err := s.stretches(ctx, []retwis.UserID{author}, []retwis.PostID{0}, true, s.options.HomeCap)
	if err != nil {
		return fmt.Errorf("back-fill timeline %s with %s: %w", id, author, err)
	}
	posts := make([]authored, len(found[0]))
	for i, post := range found[0] {
		posts[i] = authored{post, author}
	}
	edge := ""
	if score != 0 {
		edge = fmt.Sprint(score)
	}
	all := len(posts) < s.options.HomeCap
	if err := s.do(ctx, s.mergeCall(id, "fill", author.String(), edge, all, posts)).Err(); err != nil {
		return fmt.Errorf("back-fill timeline %s with %s: %w", id, author, err)
	}
	return nil
}

// mergeCall merges posts into a timeline: all that there are, or only the newest of them.
func (s *Store) mergeCall(id retwis.TimelineID, mode, author, as string, all bool, posts []authored) call {
	p := s.ofTimeline(id)
	nothingOlder := "0"
	if all {
		nothingOlder = "1"
	}
	c := call{
		script: s.scripts.merge,
		keys: []string{
			p.entries(id), p.sources(id), p.generations(id), p.merged(), p.mergedExpiry(), p.online(), p.onlineNodes(),
		},
		args: []any{
			id.String(), mode, s.options.HomeCap, int(s.options.MergeMark.Seconds()), author, as, nothingOlder,
			s.publish, p.livePrefix(), reader(id),
		},
	}
	for _, post := range posts {
		c.args = append(c.args, post.post.String(), post.author.String())
	}
	return c
}

// Purge removes an author's posts from a home or a list that no longer follows the author,
// and refills one that had been trimmed, or that an earlier try left to be built. When it
// follows the author again nothing is done.
func (s *Store) Purge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) error {
	p := s.ofTimeline(id)
	entries, err := s.client.LRange(ctx, p.entries(id), 0, -1).Result()
	if err != nil {
		return fmt.Errorf("purge %s from timeline %s: %w", author, id, err)
	}
	unwanted, err := s.madeBy(ctx, author, entries)
	if err != nil {
		return fmt.Errorf("purge %s from timeline %s: %w", author, id, err)
	}
	c := call{
		s.scripts.purge,
		[]string{p.entries(id), p.sources(id), p.generations(id), p.online(), p.onlineNodes()},
		append([]any{id.String(), author.String(), s.publish, p.livePrefix()}, unwanted...),
	}
	reply, err := s.do(ctx, c).Slice()
	if err != nil || len(reply) != 2 {
		return fmt.Errorf("purge %s from timeline %s: reply %v: %w", author, id, reply, err)
	}
	if reply[1] != "1" {
		return nil
	}
	if err := s.Rebuild(ctx, id); !errors.Is(err, retwis.ErrNotFound) {
		return err
	}
	return nil // its owner is leaving: nobody reads it any more
}

// madeBy returns those of some entries that are posts of an author, deleted ones too. Their
// author's profile may not go back as far.
func (s *Store) madeBy(ctx context.Context, author retwis.UserID, entries []string) ([]any, error) {
	home := s.of(author)
	pipe := s.client.Pipeline()
	authors := map[retwis.PostID]*redis.StringCmd{}
	for _, e := range entries {
		if e == complete || e == building {
			continue
		}
		post, err := retwis.ParsePostID(e)
		if err != nil {
			return nil, err
		}
		if p, ok := s.ofPost(post); ok && p == home {
			authors[post] = pipe.HGet(ctx, p.post(post), "author")
		}
	}
	_, _ = pipe.Exec(ctx) // every author has its own error
	var posts []any
	for post, reply := range authors {
		id, err := userID(reply.Result())
		if errors.Is(err, redis.Nil) {
			continue // there is no such post
		}
		if err != nil {
			return nil, fmt.Errorf("read who made post %s: %w", post, err)
		}
		if id == author {
			posts = append(posts, post.String())
		}
	}
	return posts, nil
}
