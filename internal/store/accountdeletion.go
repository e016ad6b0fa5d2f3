package store

import (
	"context"
	"fmt"

	"retwis/internal/outbox"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Bounds of one call of account deletion.
const (
	postsPerStep = 50
	listsPerStep = 20
	edgesPerStep = 200
)

// DeleteAccount closes an account whose password hash was verified. Its sessions end at once. The worker deletes its
// posts, lists, likes and follows. If the stored hash is no longer the verified one, it returns
// [retwis.ErrWrongCredentials] and changes nothing.
func (s *Accounts) DeleteAccount(ctx context.Context, id retwis.UserID, hash string) error {
	p := s.db.OfUser(id)
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.BeginAccountDeletion,
		Keys:   []string{p.User(id).Account(), p.User(id).Sessions(), p.Outbox(), p.NewestUsers(), p.SearchWords()},
		Args:   []any{id.String(), id.Bucket(), p.Prefix(rdb.SessionKeys), hash, rdb.OriginOf(ctx)},
	})
	if err != nil {
		return fmt.Errorf("delete account %s: %w", id, err)
	}
	if closed, err := reply.Bool(); err != nil {
		return fmt.Errorf("delete account %s: %w", id, err)
	} else if !closed {
		return retwis.ErrWrongCredentials
	}
	s.authors.invalidate(id) // other processes receive a message
	return nil
}

// DeleteAccountStep carries out one account deletion step: it deletes the next posts and lists of the user and
// queues the following step. A repeat of a step has no effect.
func (s *Tasks) DeleteAccountStep(ctx context.Context, id retwis.UserID, step int64) error {
	p := s.db.OfUser(id)
	_, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.DeleteAccountStep,
		Keys: []string{
			p.User(id).Account(), p.User(id).Profile(), p.User(id).TrimmedPosts(), p.User(id).Lists(), p.Outbox(), p.Changes(), p.Online(), p.OnlineNodes(),
		},
		Args: []any{
			id.String(), step, postsPerStep, listsPerStep, s.options.Changes, s.db.Publish, p.Prefix(rdb.LiveChannels), p.Prefix(rdb.PostKeys),
			p.Prefix(rdb.ListKeys), rdb.OriginOf(ctx),
		},
	})
	if err != nil {
		return fmt.Errorf("delete posts and lists of %s, step %d: %w", id, step, entryError(err))
	}
	return nil
}

// BeginDetach begins to detach followers and reports whether the account is in the state detaching. Call it when
// the deletions of all posts of the user have been delivered.
func (s *Tasks) BeginDetach(ctx context.Context, id retwis.UserID) (bool, error) {
	p := s.db.OfUser(id)
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.BeginDetach, Keys: []string{p.User(id).Account(), p.Online(), p.OnlineNodes()}, Args: []any{id.String(), s.db.Publish, p.Prefix(rdb.LiveChannels)},
	})
	if err != nil {
		return false, fmt.Errorf("detach %s: %w", id, entryError(err))
	}
	return reply.Bool()
}

// ContinueDetach queues the next step of detaching a user.
func (s *Tasks) ContinueDetach(ctx context.Context, id retwis.UserID, step int64) error {
	p := s.db.OfUser(id)
	_, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.ContinueDetach, Keys: []string{p.User(id).Account(), p.Outbox()}, Args: []any{id.String(), step, rdb.OriginOf(ctx)},
	})
	if err != nil {
		return fmt.Errorf("detach %s: %w", id, entryError(err))
	}
	return nil
}

// DetachFollowing removes the next follows of a user in the state detaching, and reports whether none remain.
func (s *Tasks) DetachFollowing(ctx context.Context, id retwis.UserID) (bool, error) {
	p := s.db.OfUser(id)
	defer s.turn(ctx, p)()
	reply, err := s.durably(ctx, rdb.Call{
		Script: script.DetachFollowing,
		Keys:   []string{p.User(id).Account(), p.User(id).Following(), p.User(id).Uncounted(), p.Clock()},
		Args:   []any{id.String(), edgesPerStep, p.Prefix(rdb.FollowerKeys)},
	}).Slice()
	if err != nil || len(reply) == 0 {
		return false, fmt.Errorf("detach %s from authors: reply %v: %w", id, reply, entryError(err))
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
			return false, fmt.Errorf("detach %s from authors: %w: %w", id, outbox.ErrRejected, err)
		}
		calls = append(calls, s.follows.FollowerCountCall(author, p, []any{version, counted[i+1]}))
		authors = append(authors, author.String())
	}
	if _, err := s.db.DoAllDurably(ctx, calls); err != nil {
		return false, fmt.Errorf("count the followers of authors whom %s followed: %w", id, entryError(err))
	}
	if err := s.db.Client.SRem(ctx, p.User(id).Uncounted(), authors...).Err(); err != nil {
		return false, fmt.Errorf("detach %s from authors: %w", id, err)
	}
	return false, nil
}

// DetachLikes removes the next likes of a user in the state detaching, and reports whether none remain.
func (s *Tasks) DetachLikes(ctx context.Context, id retwis.UserID) (bool, error) {
	p := s.db.OfUser(id)
	defer s.turn(ctx, p)()
	done, err := s.durably(ctx, rdb.Call{
		Script: script.DetachLikes,
		Keys:   []string{p.User(id).Account(), p.User(id).Likes(), p.ChangedLikes()},
		Args:   []any{id.String(), edgesPerStep, p.Prefix(rdb.LikerKeys), s.options.LikePeriod.Milliseconds()},
	}).Bool()
	if err != nil {
		return false, fmt.Errorf("remove the likes of %s: %w", id, entryError(err))
	}
	return done, nil
}

// DetachFollowers removes the next followers of an author in a partition, or the author from the next lists there,
// and reports whether none remain.
func (s *Tasks) DetachFollowers(ctx context.Context, author retwis.UserID, number int, to outbox.TargetKind) (bool, error) {
	p := s.db.Partition(number)
	defer s.turn(ctx, p)()
	c := rdb.Call{
		Script: script.DetachFollowers,
		Keys:   []string{p.User(author).Followers(), p.User(author).Pulled(), p.LargeAuthors()},
		Args:   []any{author.String(), edgesPerStep, p.Prefix(rdb.FollowingKeys), "", p.Prefix(rdb.AccountKeys), p.Prefix(rdb.PullWatermarkKeys), p.Prefix(rdb.HiddenReposterKeys)},
	}
	if to == outbox.TargetLists {
		c.Keys = []string{p.User(author).Listed()}
		c.Args = []any{author.String(), edgesPerStep, p.Prefix(rdb.ListKeys), rdb.ListMembersSuffix}
	}
	done, err := s.durably(ctx, c).Bool()
	if err != nil {
		return false, fmt.Errorf("detach the followers of partition %d from %s: %w", number, author, entryError(err))
	}
	return done, nil
}

// FinishAccountDeletion releases the name and deletes the keys of a user. The account itself expires after
// [Options.DeletedAccountTTL]: until then readers can still show the author of a post on their page.
func (s *Tasks) FinishAccountDeletion(ctx context.Context, id retwis.UserID) error {
	users, err := s.accounts.Users(ctx, []retwis.UserID{id})
	if err != nil {
		return fmt.Errorf("finish the deletion of %s: %w", id, err)
	}
	if users[0] == nil {
		return nil
	}
	folded := retwis.FoldUsername(users[0].Username)
	claims := s.db.OfName(folded)
	release := rdb.Call{Script: script.ReleaseName, Keys: []string{claims.Name(folded), claims.Names()}, Args: []any{id.String(), folded}}
	if _, err := s.db.DoDurably(ctx, release); err != nil {
		return fmt.Errorf("finish the deletion of %s: release the name: %w", id, entryError(err))
	}
	p := s.db.OfUser(id)
	_, err = s.db.DoDurably(ctx, rdb.Call{
		Script: script.FinishAccountDeletion,
		Keys: []string{
			p.User(id).Account(), p.User(id).Home(), p.User(id).Mentions(), p.User(id).Profile(), p.User(id).TrimmedPosts(), p.User(id).Following(), p.User(id).Uncounted(), p.User(id).Likes(), p.User(id).Reposted(),
			p.User(id).HiddenReposters(),
			p.User(id).PullWatermarks(), p.User(id).FollowerPartitions(), p.User(id).Lists(), p.User(id).Sessions(),
		},
		Args: []any{s.options.DeletedAccountTTL.Milliseconds()},
	})
	if err != nil {
		return fmt.Errorf("finish the deletion of %s: %w", id, entryError(err))
	}
	return nil
}
