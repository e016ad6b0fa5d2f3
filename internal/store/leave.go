package store

import (
	"context"
	"fmt"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// How much one call of the end of an account does at the most.
const (
	postsALeave = 50
	listsALeave = 20
	edgesAPart  = 200
)

// DeleteAccount closes an account whose password hash was checked: its sessions end at
// once, and it can do nothing any more. The worker deletes what it owns, its posts first.
// When the stored hash is no longer the checked one, nothing happens and the error is
// [retwis.ErrWrongCredentials].
func (s *Store) DeleteAccount(ctx context.Context, id retwis.UserID, hash string) error {
	p := s.of(id)
	reply, err := s.doDurably(ctx, call{
		s.scripts.beginLeave,
		[]string{p.user(id), p.sessions(id), p.outbox(), p.newestUsers()},
		[]any{id.String(), id.Bucket(), p.sessionPrefix(), hash},
	})
	if err != nil {
		return fmt.Errorf("delete account %s: %w", id, err)
	}
	if closed, err := reply.Bool(); err != nil {
		return fmt.Errorf("delete account %s: %w", id, err)
	} else if !closed {
		return retwis.ErrWrongCredentials
	}
	s.authors.forget(id) // others hear of it
	return nil
}

// LeaveStep deletes the next posts and lists of a user who is leaving, and queues the step
// after it. A step that was carried out before does nothing.
func (s *Store) LeaveStep(ctx context.Context, id retwis.UserID, step int64) error {
	p := s.of(id)
	_, err := s.doDurably(ctx, call{
		s.scripts.leaveStep,
		[]string{
			p.user(id), p.profile(id), p.archive(id), p.lists(id), p.outbox(), p.removals(), p.online(), p.onlineNodes(),
		},
		[]any{
			id.String(), step, postsALeave, listsALeave, s.options.Removals, s.publish, p.livePrefix(), p.posts(),
			p.listPrefix(),
		},
	})
	if err != nil {
		return fmt.Errorf("delete what %s has made, step %d: %w", id, step, entryError(err))
	}
	return nil
}

// BeginPart notes that all deletions of a leaving user's posts have been told, and reports
// whether there is still somebody to cut off.
func (s *Store) BeginPart(ctx context.Context, id retwis.UserID) (bool, error) {
	p := s.of(id)
	reply, err := s.doDurably(ctx, call{
		s.scripts.beginPart, []string{p.user(id), p.online(), p.onlineNodes()}, []any{id.String(), s.publish, p.livePrefix()},
	})
	if err != nil {
		return false, fmt.Errorf("part with %s: %w", id, entryError(err))
	}
	return reply.Bool()
}

// CarryOnPart queues the next step of a parting that takes long.
func (s *Store) CarryOnPart(ctx context.Context, id retwis.UserID, step int64) error {
	p := s.of(id)
	_, err := s.doDurably(ctx, call{s.scripts.carryOn, []string{p.user(id), p.outbox()}, []any{id.String(), step}})
	if err != nil {
		return fmt.Errorf("part with %s: %w", id, entryError(err))
	}
	return nil
}

// PartFollowing ends the next follows of a parting user, and reports whether that was all.
func (s *Store) PartFollowing(ctx context.Context, id retwis.UserID) (bool, error) {
	p := s.of(id)
	reply, err := s.do(ctx, call{
		s.scripts.partFollowing,
		[]string{p.user(id), p.following(id), p.uncounted(id), p.clock()},
		[]any{id.String(), edgesAPart, p.followersPrefix()},
	}).Slice()
	if err != nil || len(reply) == 0 {
		return false, fmt.Errorf("end the follows of %s: reply %v: %w", id, reply, entryError(err))
	}
	version, counted := reply[0], reply[1:]
	if len(counted) == 0 {
		return true, nil
	}
	var calls []call
	var authors []any
	for i := 0; i+1 < len(counted); i += 2 {
		author, err := retwis.ParseUserID(text(counted[i]))
		if err != nil {
			return false, fmt.Errorf("end the follows of %s: %w: %w", id, outbox.ErrRejected, err)
		}
		calls = append(calls, s.reachCall(author, p, []any{version, counted[i+1]}))
		authors = append(authors, author.String())
	}
	for i, result := range s.doAll(ctx, calls) {
		if err := result.Err(); err != nil {
			return false, fmt.Errorf("count the followers of %s: %w", authors[i], entryError(err))
		}
	}
	if err := s.client.SRem(ctx, p.uncounted(id), authors...).Err(); err != nil {
		return false, fmt.Errorf("end the follows of %s: %w", id, err)
	}
	return false, nil
}

// PartFollowers takes the next followers in a partition off a parting author, or the author
// off the next lists there, and reports whether that was all.
func (s *Store) PartFollowers(ctx context.Context, author retwis.UserID, number int, to outbox.TargetKind) (bool, error) {
	p := s.partitions[number]
	c := call{
		s.scripts.partFollowers,
		[]string{p.followers(author), p.pulled(author), p.large()},
		[]any{author.String(), edgesAPart, p.followingPrefix(), "", p.users(), p.marksPrefix()},
	}
	if to == outbox.TargetLists {
		c.keys = []string{p.listed(author)}
		c.args = []any{author.String(), edgesAPart, p.listPrefix(), listMembersSuffix}
	}
	done, err := s.do(ctx, c).Bool()
	if err != nil {
		return false, fmt.Errorf("take the followers in partition %d off %s: %w", number, author, entryError(err))
	}
	return done, nil
}

// Forget ends a parting: the name is free again, and nothing is kept of the user but what
// readers of a post may still ask for, and that for [Options.GoneGrace] only.
func (s *Store) Forget(ctx context.Context, id retwis.UserID) error {
	users, err := s.Users(ctx, []retwis.UserID{id})
	if err != nil {
		return fmt.Errorf("forget %s: %w", id, err)
	}
	if users[0] == nil {
		return nil
	}
	folded := retwis.FoldUsername(users[0].Username)
	claims := s.ofName(folded)
	release := call{s.scripts.releaseName, []string{claims.name(folded), claims.names()}, []any{id.String(), folded}}
	if _, err := s.doDurably(ctx, release); err != nil {
		return fmt.Errorf("forget %s: release the name: %w", id, entryError(err))
	}
	p := s.of(id)
	_, err = s.doDurably(ctx, call{
		s.scripts.forget,
		[]string{
			p.user(id), p.home(id), p.mentions(id), p.profile(id), p.archive(id), p.following(id), p.uncounted(id),
			p.marks(id), p.reach(id), p.lists(id), p.sessions(id),
		},
		[]any{s.options.GoneGrace.Milliseconds()},
	})
	if err != nil {
		return fmt.Errorf("forget %s: %w", id, entryError(err))
	}
	return nil
}

// EndLateEdge takes an author off a home or a list where the author was cut off from
// everybody before the edge was written, and reports whether that was so. Whoever entered
// the author's reach before the account ended can still write one.
func (s *Store) EndLateEdge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) (bool, error) {
	state, err := s.client.HMGet(ctx, s.of(author).user(author), "state").Result()
	if err != nil {
		return false, fmt.Errorf("look after author %s: %w", author, err)
	}
	if state[0] == "active" || state[0] == "leaving" {
		return false, nil
	}
	p := s.ofTimeline(id)
	if id.Kind == retwis.HomeTimeline {
		err = s.do(ctx, call{
			s.scripts.unfollow,
			[]string{p.user(id.Owner), p.following(id.Owner), p.followers(author), p.clock(), p.outbox()},
			[]any{id.Owner.String(), author.String(), p.tag + ":"},
		}).Err()
	} else {
		var owner []any
		if owner, err = s.client.HMGet(ctx, p.list(id.List()), "owner").Result(); err == nil {
			err = s.do(ctx, call{
				s.scripts.removeMember,
				[]string{p.list(id.List()), p.listMembers(id.List()), p.listed(author), p.outbox()},
				[]any{text(owner[0]), id.List().String(), author.String()},
			}).Err()
		}
	}
	if err != nil {
		return false, fmt.Errorf("take %s, who is gone, off timeline %s: %w", author, id, entryError(err))
	}
	return true, nil
}
