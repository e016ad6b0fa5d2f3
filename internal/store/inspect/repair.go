package inspect

import (
	"context"
	"fmt"
	"strings"

	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Repairer repairs what the checker finds.
type Repairer struct {
	db        *rdb.DB
	options   store.Options
	inspector *Inspector
	accounts  *store.Accounts
	follows   *store.Follows
	timelines *store.Timelines
	tasks     *store.Tasks
	likes     *store.Likes
}

// NewRepairer returns a repairer of a database.
func NewRepairer(s *store.Store) *Repairer {
	return &Repairer{
		db: s.DB(), options: s.Options(), inspector: NewInspector(s),
		accounts: s.Accounts, follows: s.Follows, timelines: s.Timelines, tasks: s.Tasks, likes: s.Likes,
	}
}

// RecreateIfStored recreates a stored timeline: see [store.Timelines.RecreateIfStored].
func (s *Repairer) RecreateIfStored(ctx context.Context, id retwis.TimelineID) (bool, error) {
	return s.timelines.RecreateIfStored(ctx, id)
}

// RemoveEntries removes entries from a timeline that cannot be rebuilt. The map has the number to keep of each entry: 0,
// or 1 for the one that arrived first.
func (s *Repairer) RemoveEntries(ctx context.Context, id retwis.TimelineID, keep map[retwis.Element]int) error {
	const step = 100 // bounds how long one call runs
	p := s.db.OfTimeline(id)
	var calls []rdb.Call
	for element, count := range keep {
		if n := len(calls); n == 0 || len(calls[n-1].Args) >= 4+2*step {
			calls = append(calls, rdb.Call{
				Script: script.RemoveEntries, Keys: []string{p.Timeline(id).Entries(), p.Online(), p.OnlineNodes(), p.Timeline(id).Owner()},
				Args: []any{id.String(), s.db.Publish, p.Prefix(rdb.LiveChannels), p.Timeline(id).Marker()},
			})
		}
		last := &calls[len(calls)-1]
		last.Args = append(last.Args, element.String(), count)
	}
	for _, reply := range s.db.DoAll(ctx, calls) {
		if err := reply.Err(); err != nil {
			return fmt.Errorf("remove entries of timeline %s: %w", id, err)
		}
	}
	return nil
}

// RepairMarker replaces the marker of a timeline by the entry at its place. It deletes a marker that has no place.
func (s *Repairer) RepairMarker(ctx context.Context, id retwis.TimelineID, marker string) error {
	placed := "0"
	if _, err := retwis.ParseElement(marker); err == nil {
		placed = "1"
	}
	p := s.db.OfTimeline(id)
	err := s.db.Do(ctx, rdb.Call{
		Script: script.RepairMarker, Keys: []string{p.Timeline(id).Entries(), p.Timeline(id).Owner(), p.Online(), p.OnlineNodes()},
		Args: []any{id.String(), s.db.Publish, p.Prefix(rdb.LiveChannels), p.Timeline(id).Marker(), marker, placed},
	}).Err()
	if err != nil {
		return fmt.Errorf("repair the marker of timeline %s: %w", id, err)
	}
	return nil
}

// RepairProfileEntry puts an entry at its position on its author's profile, once. It removes an entry whose post is
// deleted or of another author.
func (s *Repairer) RepairProfileEntry(ctx context.Context, author retwis.UserID, entry retwis.Element) error {
	p := s.db.OfUser(author)
	err := s.db.Do(ctx, rdb.Call{Script: script.RepairProfileEntry, Keys: []string{p.User(author).Profile(), p.Post(entry.ID)}, Args: []any{entry.String(), author.String()}}).Err()
	if err != nil {
		return fmt.Errorf("repair entry %s on the profile of %s: %w", entry, author, err)
	}
	return nil
}

// RepairCounts recounts the posts, follows and followers of a user atomically. It adds up the stored follower counts of
// the follower partitions.
func (s *Repairer) RepairCounts(ctx context.Context, id retwis.UserID) error {
	p := s.db.OfUser(id)
	err := s.db.Do(ctx, rdb.Call{Script: script.RepairCounts, Keys: []string{p.User(id).Account(), p.User(id).Following(), p.User(id).Profile(), p.User(id).FollowerPartitions(), p.User(id).Reposted()}}).Err()
	if err != nil {
		return fmt.Errorf("repair the counts of %s: %w", id, err)
	}
	return nil
}

// RepairName makes the claim of a name consistent with the accounts. It releases the name if the holder's account has
// another name. It assigns the free name to user if the user's account has it. It reports whether the name is now
// free or held by a user whose account has it.
func (s *Repairer) RepairName(ctx context.Context, folded string, user retwis.UserID) (bool, error) {
	p := s.db.OfName(folded)
	holder, held, err := s.inspector.NameOwner(ctx, folded)
	if err != nil {
		return false, err
	}
	if held && holder != user {
		matches, err := s.hasName(ctx, holder, folded)
		if err != nil || matches {
			return matches, err
		}
		err = s.db.Do(ctx, rdb.Call{Script: script.ReleaseName, Keys: []string{p.Name(folded), p.Names()}, Args: []any{holder.String(), folded}}).Err()
		if err != nil {
			return false, fmt.Errorf("release the name of %s: %w", holder, err)
		}
	}
	matches, err := s.hasName(ctx, user, folded)
	if err != nil || !matches {
		return true, err // the name is free
	}
	holder, err = s.accounts.ClaimName(ctx, folded, user)
	if err != nil {
		return false, fmt.Errorf("claim the name of %s: %w", user, err)
	}
	return holder == user, nil
}

// hasName reports whether the account of a user, active or pending, has a name.
func (s *Repairer) hasName(ctx context.Context, id retwis.UserID, folded string) (bool, error) {
	fields, err := s.db.Client.HMGet(ctx, s.db.OfUser(id).User(id).Account(), "state", "name").Result()
	if err != nil {
		return false, fmt.Errorf("read the name of %s: %w", id, err)
	}
	return !isDeleted(rdb.Text(fields[0])) && retwis.FoldUsername(rdb.Text(fields[1])) == folded, nil
}

// RepairEdge makes both directions of an edge agree. It restores a missing direction, because the reader can end a
// restored follow, but does not notice a lost one. If the author or the reader does not exist, it removes both. It adds
// the author's posts to the timeline, or removes them, at once.
func (s *Repairer) RepairEdge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) error {
	p := s.db.OfTimeline(id)
	kind, mark := "", "h"
	if id.Kind == retwis.ListTimeline {
		kind, mark = store.ListPartition, "l"
	}
	exists := "0"
	found, err := s.follows.AddAuthorPartition(ctx, author, kind, p)
	if err != nil {
		return fmt.Errorf("repair the edge of timeline %s to %s: %w", id, author, err)
	}
	if found {
		exists = "1"
	}
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.RepairEdge,
		Keys:   []string{p.Timeline(id).Epoch(), p.Timeline(id).Sources(), s.inspector.audienceOf(p, author, id.Kind), p.Clock()},
		Args:   []any{id.Owner.String(), author.String(), exists, mark},
	})
	if err != nil {
		return fmt.Errorf("repair the edge of timeline %s to %s: %w", id, author, err)
	}
	answer, err := reply.Slice()
	if err != nil || len(answer) != 3 {
		return fmt.Errorf("repair the edge of timeline %s to %s: reply %v: %w", id, author, answer, err)
	}
	if found && id.Kind == retwis.HomeTimeline {
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

// RepairAuthorPartition adds a partition to an author's follower partitions if it holds followers of the author, or
// lists that contain the author. It recounts the followers there.
func (s *Repairer) RepairAuthorPartition(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, number int) error {
	p, prefix := s.db.Partition(number), ""
	if kind == retwis.ListTimeline {
		prefix = store.ListPartition
	}
	size, err := s.db.Client.ZCard(ctx, s.inspector.audienceOf(p, author, kind)).Result()
	if err != nil {
		return fmt.Errorf("repair the follower partitions of %s: %w", author, err)
	}
	if size > 0 {
		if _, err := s.follows.AddAuthorPartition(ctx, author, prefix, p); err != nil {
			return fmt.Errorf("repair the follower partitions of %s: %w", author, err)
		}
	}
	if kind == retwis.ListTimeline {
		return nil
	}
	return s.tasks.RecountFollowers(ctx, number, author)
}

// RepairSearchWords indexes a user by the words of the inspected display name.
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

// RepairSearchEntry removes an entry of the people search of a partition, unless it is a word of an active user.
func (s *Repairer) RepairSearchEntry(ctx context.Context, partition int, entry record.SearchEntry) error {
	p := s.db.Partition(partition)
	err := s.db.Do(ctx, rdb.Call{
		Script: script.RepairSearchEntry, Keys: []string{p.User(entry.User).Account(), p.SearchWords()}, Args: []any{entry.Text},
	}).Err()
	if err != nil {
		return fmt.Errorf("repair the entry %q of the people search: %w", entry.Text, err)
	}
	return nil
}

// RepairNewestUser adds an active user to the newest users of a partition, and removes any other.
func (s *Repairer) RepairNewestUser(ctx context.Context, partition int, id retwis.UserID) error {
	p := s.db.Partition(partition)
	err := s.db.Do(ctx, rdb.Call{
		Script: script.RepairNewestUser, Keys: []string{p.User(id).Account(), p.NewestUsers()}, Args: []any{id.String(), s.options.NewestUsers},
	}).Err()
	if err != nil {
		return fmt.Errorf("repair the newest users for %s: %w", id, err)
	}
	return nil
}
