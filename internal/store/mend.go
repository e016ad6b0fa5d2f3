package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// Renew takes a home's or a list's entries away and gathers them anew. Subscribers are told
// that the timeline changed, and whoever reads meanwhile builds it. Without such a user or
// list the error is [retwis.ErrNotFound].
func (s *Store) Renew(ctx context.Context, id retwis.TimelineID) error {
	there, err := s.renew(ctx, id, "0")
	if err == nil && !there {
		return retwis.ErrNotFound
	}
	return err
}

// RenewIfKept does the same for a timeline that is kept ready, and reports whether it is.
// One that its next reader builds stays away.
func (s *Store) RenewIfKept(ctx context.Context, id retwis.TimelineID) (bool, error) {
	return s.renew(ctx, id, "1")
}

func (s *Store) renew(ctx context.Context, id retwis.TimelineID, ifKept string) (bool, error) {
	p := s.ofTimeline(id)
	there, err := s.do(ctx, call{
		s.scripts.renew,
		[]string{p.entries(id), p.generations(id), p.online(), p.onlineNodes()},
		[]any{id.String(), ifKept, s.publish, p.livePrefix()},
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

// Weed takes posts off the mentions of a user: all entries of those that map to 0, all but
// the first that arrived of those that map to 1.
func (s *Store) Weed(ctx context.Context, id retwis.TimelineID, stay map[retwis.PostID]int) error {
	const step = 100 // bounds how long one call runs
	p := s.ofTimeline(id)
	var calls []call
	for post, count := range stay {
		if n := len(calls); n == 0 || len(calls[n-1].args) >= 3+2*step {
			calls = append(calls, call{
				s.scripts.weed, []string{p.entries(id), p.online(), p.onlineNodes()}, []any{id.String(), s.publish, p.livePrefix()},
			})
		}
		last := &calls[len(calls)-1]
		last.args = append(last.args, post.String(), count)
	}
	for _, reply := range s.doAll(ctx, calls) {
		if err := reply.Err(); err != nil {
			return fmt.Errorf("weed timeline %s: %w", id, err)
		}
	}
	return nil
}

// PlacePost puts a post at its place on its author's profile, once; one that is deleted, or
// not the author's, it takes off.
func (s *Store) PlacePost(ctx context.Context, author retwis.UserID, post retwis.PostID) error {
	p := s.of(author)
	err := s.do(ctx, call{s.scripts.placePost, []string{p.profile(author), p.post(post)}, []any{post.String(), author.String()}}).Err()
	if err != nil {
		return fmt.Errorf("place post %s on the profile of %s: %w", post, author, err)
	}
	return nil
}

// MendCounts counts a user's posts, follows and followers again, in one step: the followers
// from what is stored in the reach.
func (s *Store) MendCounts(ctx context.Context, id retwis.UserID) error {
	p := s.of(id)
	err := s.do(ctx, call{s.scripts.mendCounts, []string{p.user(id), p.following(id), p.profile(id), p.reach(id)}, nil}).Err()
	if err != nil {
		return fmt.Errorf("count what %s has: %w", id, err)
	}
	return nil
}

// MendName gives a name to the user who bears it, when nobody has it, and takes it from one
// who does not bear it. It reports whether whoever has the name now bears it.
func (s *Store) MendName(ctx context.Context, folded string, bearer retwis.UserID) (bool, error) {
	p := s.ofName(folded)
	holder, held, err := s.NameHolder(ctx, folded)
	if err != nil {
		return false, err
	}
	if held && holder != bearer {
		bears, err := s.bears(ctx, holder, folded)
		if err != nil || bears {
			return bears, err
		}
		err = s.do(ctx, call{s.scripts.releaseName, []string{p.name(folded), p.names()}, []any{holder.String(), folded}}).Err()
		if err != nil {
			return false, fmt.Errorf("take a name from %s: %w", holder, err)
		}
	}
	bears, err := s.bears(ctx, bearer, folded)
	if err != nil || !bears {
		return true, err // nobody has it
	}
	holder, err = s.claimName(ctx, folded, bearer)
	if err != nil {
		return false, fmt.Errorf("give %s a name: %w", bearer, err)
	}
	return holder == bearer, nil
}

// bears reports whether a user has a name by the account, in use or not yet.
func (s *Store) bears(ctx context.Context, id retwis.UserID, folded string) (bool, error) {
	fields, err := s.client.HMGet(ctx, s.of(id).user(id), "state", "name").Result()
	if err != nil {
		return false, fmt.Errorf("read the name of %s: %w", id, err)
	}
	return !isGone(text(fields[0])) && retwis.FoldUsername(text(fields[1])) == folded, nil
}

// OutboxEnds returns the last entry of every outbox; "" of an empty one.
func (s *Store) OutboxEnds(ctx context.Context) ([]string, error) {
	pipe := s.client.Pipeline()
	last := make([]*redis.XMessageSliceCmd, len(s.partitions))
	for i, p := range s.partitions {
		last[i] = pipe.XRevRangeN(ctx, p.outbox(), "+", "-", 1)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	return messageIDs(last)
}

// OutboxStarts returns the first entry of every outbox; "" of an empty one.
func (s *Store) OutboxStarts(ctx context.Context) ([]string, error) {
	pipe := s.client.Pipeline()
	first := make([]*redis.XMessageSliceCmd, len(s.partitions))
	for i, p := range s.partitions {
		first[i] = pipe.XRangeN(ctx, p.outbox(), "-", "+", 1)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	return messageIDs(first)
}

func messageIDs(results []*redis.XMessageSliceCmd) ([]string, error) {
	ids := make([]string, len(results))
	for i, result := range results {
		messages, err := result.Result()
		if err != nil {
			return nil, fmt.Errorf("read outbox %d: %w", i, err)
		}
		if len(messages) > 0 {
			ids[i] = messages[0].ID
		}
	}
	return ids, nil
}
