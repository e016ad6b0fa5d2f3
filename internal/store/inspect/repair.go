package inspect

import (
	"context"
	"fmt"
	"strings"

	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Repairer corrects what an inspection finds.
type Repairer struct {
	db        *rdb.DB
	options   store.Options
	inspector *Inspector
	accounts  *store.Accounts
	follows   *store.Follows
	timelines *store.Timelines
	tasks     *store.Tasks
}

// NewRepairer returns a repairer of a database.
func NewRepairer(s *store.Store) *Repairer {
	return &Repairer{
		db: s.DB(), options: s.Options(), inspector: NewInspector(s),
		accounts: s.Accounts, follows: s.Follows, timelines: s.Timelines, tasks: s.Tasks,
	}
}

// RecreateIfStored empties and gathers a timeline: see [store.Timelines.RenewIfKept].
func (s *Repairer) RecreateIfStored(ctx context.Context, id retwis.TimelineID) (bool, error) {
	return s.timelines.RecreateIfStored(ctx, id)
}

// RemoveEntries takes posts off the mentions of a user: all entries of those that map to 0, all but
// the first that arrived of those that map to 1.
func (s *Repairer) RemoveEntries(ctx context.Context, id retwis.TimelineID, stay map[retwis.PostID]int) error {
	const step = 100 // bounds how long one call runs
	p := s.db.OfTimeline(id)
	var calls []rdb.Call
	for post, count := range stay {
		if n := len(calls); n == 0 || len(calls[n-1].Args) >= 3+2*step {
			calls = append(calls, rdb.Call{
				Script: script.RemoveEntries, Keys: []string{p.Timeline(id).Entries(), p.Online(), p.OnlineNodes()}, Args: []any{id.String(), s.db.Publish, p.Prefix(rdb.LiveChannels)},
			})
		}
		last := &calls[len(calls)-1]
		last.Args = append(last.Args, post.String(), count)
	}
	for _, reply := range s.db.DoAll(ctx, calls) {
		if err := reply.Err(); err != nil {
			return fmt.Errorf("weed timeline %s: %w", id, err)
		}
	}
	return nil
}

// RepairProfileEntry puts a post at its place on its author's profile, once; one that is deleted, or
// not the author's, it takes off.
func (s *Repairer) RepairProfileEntry(ctx context.Context, author retwis.UserID, post retwis.PostID) error {
	p := s.db.OfUser(author)
	err := s.db.Do(ctx, rdb.Call{Script: script.RepairProfileEntry, Keys: []string{p.User(author).Profile(), p.Post(post)}, Args: []any{post.String(), author.String()}}).Err()
	if err != nil {
		return fmt.Errorf("place post %s on the profile of %s: %w", post, author, err)
	}
	return nil
}

// RepairCounts counts a user's posts, follows and followers again, in one step: the followers
// from what is stored in the reach.
func (s *Repairer) RepairCounts(ctx context.Context, id retwis.UserID) error {
	p := s.db.OfUser(id)
	err := s.db.Do(ctx, rdb.Call{Script: script.RepairCounts, Keys: []string{p.User(id).Account(), p.User(id).Following(), p.User(id).Profile(), p.User(id).FollowerPartitions()}}).Err()
	if err != nil {
		return fmt.Errorf("count what %s has: %w", id, err)
	}
	return nil
}

// RepairName gives a name to the user who bears it, when nobody has it, and takes it from one
// who does not bear it. It reports whether whoever has the name now bears it.
func (s *Repairer) RepairName(ctx context.Context, folded string, bearer retwis.UserID) (bool, error) {
	p := s.db.OfName(folded)
	holder, held, err := s.inspector.NameOwner(ctx, folded)
	if err != nil {
		return false, err
	}
	if held && holder != bearer {
		bears, err := s.bears(ctx, holder, folded)
		if err != nil || bears {
			return bears, err
		}
		err = s.db.Do(ctx, rdb.Call{Script: script.ReleaseName, Keys: []string{p.Name(folded), p.Names()}, Args: []any{holder.String(), folded}}).Err()
		if err != nil {
			return false, fmt.Errorf("take a name from %s: %w", holder, err)
		}
	}
	bears, err := s.bears(ctx, bearer, folded)
	if err != nil || !bears {
		return true, err // nobody has it
	}
	holder, err = s.accounts.ClaimName(ctx, folded, bearer)
	if err != nil {
		return false, fmt.Errorf("give %s a name: %w", bearer, err)
	}
	return holder == bearer, nil
}

// bears reports whether a user has a name by the account, in use or not yet.
func (s *Repairer) bears(ctx context.Context, id retwis.UserID, folded string) (bool, error) {
	fields, err := s.db.Client.HMGet(ctx, s.db.OfUser(id).User(id).Account(), "state", "name").Result()
	if err != nil {
		return false, fmt.Errorf("read the name of %s: %w", id, err)
	}
	return !isDeleted(rdb.Text(fields[0])) && retwis.FoldUsername(rdb.Text(fields[1])) == folded, nil
}

// RepairEdge makes both directions of an edge say the same. One that is there in one
// direction only is restored: a follow that its reader can end again is better than one
// that is lost. Where there is no such author, or no such reader, both are removed. The
// timeline gets, or loses, the author's posts at once.
func (s *Repairer) RepairEdge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) error {
	p := s.db.OfTimeline(id)
	kind, mark := "", "h"
	if id.Kind == retwis.ListTimeline {
		kind, mark = store.ListPartition, "l"
	}
	exists := "0"
	there, err := s.follows.AddAuthorPartition(ctx, author, kind, p)
	if err != nil {
		return fmt.Errorf("mend the edge of timeline %s to %s: %w", id, author, err)
	}
	if there {
		exists = "1"
	}
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.RepairEdge,
		Keys:   []string{p.Timeline(id).Epoch(), p.Timeline(id).Sources(), s.inspector.audienceOf(p, author, id.Kind), p.Clock()},
		Args:   []any{id.Owner.String(), author.String(), exists, mark},
	})
	if err != nil {
		return fmt.Errorf("mend the edge of timeline %s to %s: %w", id, author, err)
	}
	answer, err := reply.Slice()
	if err != nil || len(answer) != 3 {
		return fmt.Errorf("mend the edge of timeline %s to %s: reply %v: %w", id, author, answer, err)
	}
	if there && id.Kind == retwis.HomeTimeline {
		if err := s.follows.SetFollowerCount(ctx, author, p, answer[1:]); err != nil {
			return err
		}
	}
	switch answer[0] {
	case "restored":
		return s.tasks.Backfill(ctx, id, author, 0)
	case "removed":
		return s.tasks.Purge(ctx, id, author)
	default:
		return nil
	}
}

// RepairAuthorPartition enters the partitions that hold followers of an author, or lists with the
// author on them, into the author's reach, and counts the followers in a partition again.
func (s *Repairer) RepairAuthorPartition(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, number int) error {
	p, prefix := s.db.Partition(number), ""
	if kind == retwis.ListTimeline {
		prefix = store.ListPartition
	}
	size, err := s.db.Client.ZCard(ctx, s.inspector.audienceOf(p, author, kind)).Result()
	if err != nil {
		return fmt.Errorf("mend the reach of %s: %w", author, err)
	}
	if size > 0 {
		if _, err := s.follows.AddAuthorPartition(ctx, author, prefix, p); err != nil {
			return fmt.Errorf("mend the reach of %s: %w", author, err)
		}
	}
	if kind == retwis.ListTimeline {
		return nil
	}
	return s.tasks.RecountFollowers(ctx, number, author)
}

// RepairSearchWords indexes a user by the words of the display name as it was inspected.
func (s *Repairer) RepairSearchWords(ctx context.Context, id retwis.UserID, displayName string) error {
	p := s.db.OfUser(id)
	err := s.db.Do(ctx, rdb.Call{
		Script: script.RepairSearchWords, Keys: []string{p.User(id).Account(), p.SearchWords()},
		Args: []any{id.String(), displayName, strings.Join(retwis.SearchWords(displayName), " ")},
	}).Err()
	if err != nil {
		return fmt.Errorf("index the names of %s: %w", id, err)
	}
	return nil
}

// RepairNewestUser lists a user among the newest of a partition, if the account is in use; else it
// takes the user off.
func (s *Repairer) RepairNewestUser(ctx context.Context, partition int, id retwis.UserID) error {
	p := s.db.Partition(partition)
	err := s.db.Do(ctx, rdb.Call{
		Script: script.RepairNewestUser, Keys: []string{p.User(id).Account(), p.NewestUsers()}, Args: []any{id.String(), s.options.NewestUsers},
	}).Err()
	if err != nil {
		return fmt.Errorf("list %s among the newest users: %w", id, err)
	}
	return nil
}
