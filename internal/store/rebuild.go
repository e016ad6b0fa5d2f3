package store

import (
	"context"
	"fmt"
	"slices"

	"retwis/internal/retwis"
)

// Rebuild makes a reader's home hold what its definition says: the newest posts of the
// reader and of those followed. Posts that are there stay at their places. It may be
// repeated, and runs once for any number of callers in this process. Without such an
// account the error is [retwis.ErrNotFound].
func (s *Store) Rebuild(ctx context.Context, reader retwis.UserID) error {
	_, err, _ := s.rebuilds.Do(reader.String(), func() (any, error) {
		return nil, s.rebuild(ctx, reader)
	})
	return err
}

func (s *Store) rebuild(ctx context.Context, reader retwis.UserID) error {
	p := s.of(reader)
	there, err := s.do(ctx, call{s.scripts.beginBuild, []string{p.home(reader), p.user(reader)}, nil}).Bool()
	if err != nil {
		return fmt.Errorf("rebuild the home of %s: %w", reader, err)
	}
	if !there {
		return retwis.ErrNotFound
	}
	posts, all, err := s.pull(ctx, reader, 0, true, s.options.HomeCap)
	if err != nil {
		return fmt.Errorf("rebuild the home of %s: %w", reader, err)
	}
	nothingOlder := "0"
	if all {
		nothingOlder = "1"
	}
	if err := s.do(ctx, s.mergeCall(reader, "whole", "", "", nothingOlder, posts)).Err(); err != nil {
		return fmt.Errorf("rebuild the home of %s: %w", reader, err)
	}
	return nil
}

// Backfill merges an author's newest posts into the home of a reader who began to follow
// the author. It acts only while the follow is the one of the given score; 0 stands for
// any.
func (s *Store) Backfill(ctx context.Context, reader, author retwis.UserID, score int64) error {
	found, err := s.stretches(ctx, []retwis.UserID{author}, []retwis.PostID{0}, true, s.options.HomeCap)
	if err != nil {
		return fmt.Errorf("back-fill the home of %s with %s: %w", reader, author, err)
	}
	posts := make([]authored, len(found[0]))
	for i, post := range found[0] {
		posts[i] = authored{post, author}
	}
	edge := ""
	if score != 0 {
		edge = fmt.Sprint(score)
	}
	if err := s.do(ctx, s.mergeCall(reader, "fill", author.String(), edge, "", posts)).Err(); err != nil {
		return fmt.Errorf("back-fill the home of %s with %s: %w", reader, author, err)
	}
	return nil
}

func (s *Store) mergeCall(reader retwis.UserID, mode, author, score, nothingOlder string, posts []authored) call {
	p := s.of(reader)
	c := call{
		script: s.scripts.merge,
		keys: []string{
			p.home(reader), p.following(reader), p.user(reader), p.merged(), p.mergedExpiry(), p.online(), p.onlineNodes(),
		},
		args: []any{
			reader.String(), mode, s.options.HomeCap, int(s.options.MergeMark.Seconds()), author, score, nothingOlder,
			s.publish, p.livePrefix(),
		},
	}
	for _, post := range posts {
		c.args = append(c.args, post.post.String(), post.author.String())
	}
	return c
}

// Purge takes an author's posts out of the home of a reader who no longer follows the
// author, and refills a home that had been full. When the reader follows the author again
// it does nothing.
func (s *Store) Purge(ctx context.Context, reader, author retwis.UserID) error {
	p := s.of(reader)
	entries, err := s.client.LRange(ctx, p.home(reader), 0, -1).Result()
	if err != nil {
		return fmt.Errorf("purge %s from the home of %s: %w", author, reader, err)
	}
	held := make(map[retwis.PostID]bool, len(entries))
	var oldest retwis.PostID
	for _, e := range entries {
		if e == complete || e == building {
			continue
		}
		post, err := retwis.ParsePostID(e)
		if err != nil {
			return fmt.Errorf("purge %s from the home of %s: %w", author, reader, err)
		}
		held[post] = true
		if oldest == 0 || post < oldest {
			oldest = post
		}
	}
	unwanted, err := s.heldPosts(ctx, author, held, oldest)
	if err != nil {
		return fmt.Errorf("purge %s from the home of %s: %w", author, reader, err)
	}
	if len(unwanted) == 0 {
		return nil
	}
	c := call{
		s.scripts.purge,
		[]string{p.home(reader), p.following(reader), p.user(reader), p.online(), p.onlineNodes()},
		append([]any{reader.String(), author.String(), s.publish, p.livePrefix()}, unwanted...),
	}
	reply, err := s.do(ctx, c).Slice()
	if err != nil || len(reply) != 2 {
		return fmt.Errorf("purge %s from the home of %s: reply %v: %w", author, reader, reply, err)
	}
	if reply[1] == "1" {
		return s.Rebuild(ctx, reader)
	}
	return nil
}

// heldPosts returns those of an author's posts that a home holds.
func (s *Store) heldPosts(ctx context.Context, author retwis.UserID, held map[retwis.PostID]bool, oldest retwis.PostID) ([]any, error) {
	const step = 1000
	var found []any
	var from retwis.PostID
	for len(held) > 0 {
		stretches, err := s.stretches(ctx, []retwis.UserID{author}, []retwis.PostID{from}, true, step)
		if err != nil {
			return nil, err
		}
		posts := stretches[0]
		for _, post := range posts {
			if held[post] {
				found = append(found, post.String())
			}
		}
		if len(posts) < step || slices.Min(posts) < oldest {
			break
		}
		from = posts[len(posts)-1]
	}
	return found, nil
}
