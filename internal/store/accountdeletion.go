package store

import (
	"context"
	"fmt"

	"retwis/internal/outbox"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// How much one call of the end of an account does at the most.
const (
	postsPerStep = 50
	listsPerStep = 20
	edgesPerStep = 200
)

// DeleteAccount closes an account whose password hash was checked: its sessions end at
// once, and it can do nothing any more. The worker deletes what it owns, its posts first.
// When the stored hash is no longer the checked one, nothing happens and the error is
// [retwis.ErrWrongCredentials].
func (s *Accounts) DeleteAccount(ctx context.Context, id retwis.UserID, hash string) error {
	p := s.db.OfUser(id)
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.BeginAccountDeletion,
		Keys:   []string{p.User(id).Account(), p.User(id).Sessions(), p.Outbox(), p.NewestUsers(), p.SearchWords()},
		Args:   []any{id.String(), id.Bucket(), p.Prefix(rdb.SessionKeys), hash},
	})
	if err != nil {
		return fmt.Errorf("delete account %s: %w", id, err)
	}
	if closed, err := reply.Bool(); err != nil {
		return fmt.Errorf("delete account %s: %w", id, err)
	} else if !closed {
		return retwis.ErrWrongCredentials
	}
	s.authors.invalidate(id) // others hear of it
	return nil
}

// DeleteAccountStep deletes the next posts and lists of a user who is leaving, and queues the step
// after it. A step that was carried out before does nothing.
func (s *Tasks) DeleteAccountStep(ctx context.Context, id retwis.UserID, step int64) error {
	p := s.db.OfUser(id)
	_, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.DeleteAccountStep,
		Keys: []string{
			p.User(id).Account(), p.User(id).Profile(), p.User(id).TrimmedPosts(), p.User(id).Lists(), p.Outbox(), p.Removals(), p.Online(), p.OnlineNodes(),
		},
		Args: []any{
			id.String(), step, postsPerStep, listsPerStep, s.options.Removals, s.db.Publish, p.Prefix(rdb.LiveChannels), p.Prefix(rdb.PostKeys),
			p.Prefix(rdb.ListKeys),
		},
	})
	if err != nil {
		return fmt.Errorf("delete what %s has made, step %d: %w", id, step, entryError(err))
	}
	return nil
}

// BeginDetach notes that all deletions of a leaving user's posts have been told, and reports
// whether there is still somebody to cut off.
func (s *Tasks) BeginDetach(ctx context.Context, id retwis.UserID) (bool, error) {
	p := s.db.OfUser(id)
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.BeginDetach, Keys: []string{p.User(id).Account(), p.Online(), p.OnlineNodes()}, Args: []any{id.String(), s.db.Publish, p.Prefix(rdb.LiveChannels)},
	})
	if err != nil {
		return false, fmt.Errorf("part with %s: %w", id, entryError(err))
	}
	return reply.Bool()
}

// ContinueDetach queues the next step of a parting that takes long.
func (s *Tasks) ContinueDetach(ctx context.Context, id retwis.UserID, step int64) error {
	p := s.db.OfUser(id)
	_, err := s.db.DoDurably(ctx, rdb.Call{Script: script.ContinueDetach, Keys: []string{p.User(id).Account(), p.Outbox()}, Args: []any{id.String(), step}})
	if err != nil {
		return fmt.Errorf("part with %s: %w", id, entryError(err))
	}
	return nil
}

// DetachFollowing ends the next follows of a parting user, and reports whether that was all.
func (s *Tasks) DetachFollowing(ctx context.Context, id retwis.UserID) (bool, error) {
	p := s.db.OfUser(id)
	reply, err := s.db.Do(ctx, rdb.Call{
		Script: script.DetachFollowing,
		Keys:   []string{p.User(id).Account(), p.User(id).Following(), p.User(id).Uncounted(), p.Clock()},
		Args:   []any{id.String(), edgesPerStep, p.Prefix(rdb.FollowerKeys)},
	}).Slice()
	if err != nil || len(reply) == 0 {
		return false, fmt.Errorf("end the follows of %s: reply %v: %w", id, reply, entryError(err))
	}
	version, counted := reply[0], reply[1:]
	if len(counted) == 0 {
		return true, nil
	}
	var calls []rdb.Call
	var authors []any
	for i := 0; i+1 < len(counted); i += 2 {
		author, err := retwis.ParseUserID(rdb.Text(counted[i]))
		if err != nil {
			return false, fmt.Errorf("end the follows of %s: %w: %w", id, outbox.ErrRejected, err)
		}
		calls = append(calls, s.follows.FollowerCountCall(author, p, []any{version, counted[i+1]}))
		authors = append(authors, author.String())
	}
	for i, result := range s.db.DoAll(ctx, calls) {
		if err := result.Err(); err != nil {
			return false, fmt.Errorf("count the followers of %s: %w", authors[i], entryError(err))
		}
	}
	if err := s.db.Client.SRem(ctx, p.User(id).Uncounted(), authors...).Err(); err != nil {
		return false, fmt.Errorf("end the follows of %s: %w", id, err)
	}
	return false, nil
}

// DetachFollowers takes the next followers in a partition off a parting author, or the author
// off the next lists there, and reports whether that was all.
func (s *Tasks) DetachFollowers(ctx context.Context, author retwis.UserID, number int, to outbox.TargetKind) (bool, error) {
	p := s.db.Partition(number)
	c := rdb.Call{
		Script: script.DetachFollowers,
		Keys:   []string{p.User(author).Followers(), p.User(author).Pulled(), p.LargeAuthors()},
		Args:   []any{author.String(), edgesPerStep, p.Prefix(rdb.FollowingKeys), "", p.Prefix(rdb.AccountKeys), p.Prefix(rdb.PullWatermarkKeys)},
	}
	if to == outbox.TargetLists {
		c.Keys = []string{p.User(author).Listed()}
		c.Args = []any{author.String(), edgesPerStep, p.Prefix(rdb.ListKeys), rdb.ListMembersSuffix}
	}
	done, err := s.db.Do(ctx, c).Bool()
	if err != nil {
		return false, fmt.Errorf("take the followers in partition %d off %s: %w", number, author, entryError(err))
	}
	return done, nil
}

// FinishAccountDeletion ends a parting: the name is free again, and nothing is kept of the user but what
// readers of a post may still ask for, and that for [Options.DeletedAccountTTL] only.
func (s *Tasks) FinishAccountDeletion(ctx context.Context, id retwis.UserID) error {
	users, err := s.accounts.Users(ctx, []retwis.UserID{id})
	if err != nil {
		return fmt.Errorf("forget %s: %w", id, err)
	}
	if users[0] == nil {
		return nil
	}
	folded := retwis.FoldUsername(users[0].Username)
	claims := s.db.OfName(folded)
	release := rdb.Call{Script: script.ReleaseName, Keys: []string{claims.Name(folded), claims.Names()}, Args: []any{id.String(), folded}}
	if _, err := s.db.DoDurably(ctx, release); err != nil {
		return fmt.Errorf("forget %s: release the name: %w", id, entryError(err))
	}
	p := s.db.OfUser(id)
	_, err = s.db.DoDurably(ctx, rdb.Call{
		Script: script.FinishAccountDeletion,
		Keys: []string{
			p.User(id).Account(), p.User(id).Home(), p.User(id).Mentions(), p.User(id).Profile(), p.User(id).TrimmedPosts(), p.User(id).Following(), p.User(id).Uncounted(),
			p.User(id).PullWatermarks(), p.User(id).FollowerPartitions(), p.User(id).Lists(), p.User(id).Sessions(),
		},
		Args: []any{s.options.DeletedAccountTTL.Milliseconds()},
	})
	if err != nil {
		return fmt.Errorf("forget %s: %w", id, entryError(err))
	}
	return nil
}
