package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"

	"github.com/redis/go-redis/v9"
)

// Tasks carries out the outbox entries other than posts and deletions.
type Tasks struct {
	core
	accounts  *Accounts
	follows   *Follows
	timelines *Timelines
}

// turn waits until the task may begin: the networks and users who caused tasks take turns, see [rdb.DB.TaskTurn].
func (s *Tasks) turn(ctx context.Context, p rdb.Partition) (done func()) {
	return s.db.TaskTurn(ctx, p, retwis.ActorOf(ctx))
}

// Backfill merges an author's newest posts into a home or list that gained the author as a source. It acts only if the
// edge still has the given score; 0 accepts any. If the list is being built, it restarts the build instead of merging.
func (s *Tasks) Backfill(ctx context.Context, id retwis.TimelineID, author retwis.UserID, score int64) error {
	defer s.turn(ctx, s.db.OfTimeline(id))()
	origins := origins{}
	found, err := s.timelines.readProfiles(ctx, []retwis.UserID{author}, []retwis.PostID{0}, true, s.options.HomeCap, origins)
	if err != nil {
		return fmt.Errorf("back-fill timeline %s with %s: %w", id, author, err)
	}
	posts := make([]authored, len(found[0]))
	for i, element := range found[0] {
		posts[i] = authored{element: element, author: author}
	}
	if err := s.timelines.verifyPosts(ctx, posts); err != nil {
		return fmt.Errorf("back-fill timeline %s with %s: %w", id, author, err)
	}
	edge := ""
	if score != 0 {
		edge = fmt.Sprint(score)
	}
	all := len(posts) < s.options.HomeCap
	if err := s.durably(ctx, s.timelines.mergeCall(id, "fill", author.String(), edge, all, origins, posts)).Err(); err != nil {
		return fmt.Errorf("back-fill timeline %s with %s: %w", id, author, err)
	}
	return nil
}

// Purge removes an author's posts from a home or a list that no longer follows the author. It does nothing if the edge
// exists again. If fewer than half of the posts of a full list remain, the next read rebuilds the list.
func (s *Tasks) Purge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) error {
	p := s.db.OfTimeline(id)
	defer s.turn(ctx, p)()
	entries, err := s.db.Client.LRange(ctx, p.Timeline(id).Entries(), 0, -1).Result()
	if err != nil {
		return fmt.Errorf("purge %s from timeline %s: %w", author, id, err)
	}
	unwanted, err := s.entriesOfAuthor(ctx, author, entries)
	if err != nil {
		return fmt.Errorf("purge %s from timeline %s: %w", author, id, err)
	}
	c := rdb.Call{
		Script: script.Purge,
		Keys: []string{
			p.Timeline(id).Entries(), p.Timeline(id).Sources(), p.Timeline(id).Epoch(), p.Online(), p.OnlineNodes(),
			p.Timeline(id).HiddenReposters(),
		},
		Args: append([]any{id.String(), author.String(), s.db.Publish, p.Prefix(rdb.LiveChannels), p.Timeline(id).Marker(), s.options.HomeCap / 2}, unwanted...),
	}
	if err := s.durably(ctx, c).Err(); err != nil {
		return fmt.Errorf("purge %s from timeline %s: %w", author, id, err)
	}
	return nil
}

// entriesOfAuthor returns the entries that are posts, replies or reposts of an author, including deleted ones. It reads
// plain posts, because the author's profile may have been trimmed; other elements name their author.
func (s *Tasks) entriesOfAuthor(ctx context.Context, author retwis.UserID, entries []string) ([]any, error) {
	home := s.db.OfUser(author)
	pipe := s.db.Client.Pipeline()
	authors := map[retwis.PostID]*redis.StringCmd{}
	var found []any
	for _, e := range entries {
		if e == rdb.ListComplete || e == rdb.ListBuilding {
			continue
		}
		element, err := retwis.ParseElement(e)
		if err != nil {
			return nil, err
		}
		if element.Author != 0 {
			if element.Author == author {
				found = append(found, e)
			}
			continue
		}
		if p, ok := s.db.OfPost(element.ID); ok && p == home {
			authors[element.ID] = pipe.HGet(ctx, p.Post(element.ID), "author")
		}
	}
	_, _ = pipe.Exec(ctx) // every author has its own error
	for post, reply := range authors {
		id, err := rdb.UserID(reply.Result())
		if errors.Is(err, redis.Nil) {
			continue // there is no such post
		}
		if err != nil {
			return nil, fmt.Errorf("read the author of post %s: %w", post, err)
		}
		if id == author {
			found = append(found, post.String())
		}
	}
	return found, nil
}

// RecountFollowers recounts an author's followers in a partition. It completes an interrupted follow or unfollow.
func (s *Tasks) RecountFollowers(ctx context.Context, partition int, author retwis.UserID) error {
	p := s.db.Partition(partition)
	answer, err := s.db.Do(ctx, rdb.Call{Script: script.CountFollowers, Keys: []string{p.Clock(), p.User(author).Followers()}}).Slice()
	if err != nil {
		return fmt.Errorf("count the followers of %s: %w", author, err)
	}
	if err := s.durably(ctx, s.follows.FollowerCountCall(author, p, answer)).Err(); err != nil {
		return fmt.Errorf("count the followers of %s: %w", author, err)
	}
	return nil
}

// DeleteListStep removes the next members of a deleted list, and reports whether none remain.
func (s *Tasks) DeleteListStep(ctx context.Context, id retwis.ListID) (bool, error) {
	p := s.db.OfBucket(id.Bucket())
	defer s.turn(ctx, p)()
	done, err := s.durably(ctx, rdb.Call{
		Script: script.DeleteListStep, Keys: []string{p.List(id).Properties(), p.List(id).Members(), p.List(id).Posts()}, Args: []any{id.String(), 500, p.Prefix(rdb.ListedKeys)},
	}).Bool()
	if err != nil {
		return false, fmt.Errorf("remove the members of list %s: %w", id, err)
	}
	return done, nil
}

// RemoveOrphanEdge removes an edge to an author whose followers have been detached, and reports whether it did. Such an
// edge can be written by a follow that added the author's follower partition before the account was deleted.
func (s *Tasks) RemoveOrphanEdge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) (bool, error) {
	state, err := s.db.Client.HMGet(ctx, s.db.OfUser(author).User(author).Account(), "state").Result()
	if err != nil {
		return false, fmt.Errorf("read the state of author %s: %w", author, err)
	}
	if state[0] == "active" || state[0] == "deleting" {
		return false, nil
	}
	p := s.db.OfTimeline(id)
	if id.Kind == retwis.HomeTimeline {
		err = s.durably(ctx, rdb.Call{
			Script: script.Unfollow,
			Keys:   []string{p.User(id.Owner).Account(), p.User(id.Owner).Following(), p.User(author).Followers(), p.Clock(), p.Outbox()},
			Args:   []any{id.Owner.String(), author.String(), p.Tag + ":", rdb.OriginOf(ctx)},
		}).Err()
	} else {
		var owner []any
		if owner, err = s.db.Client.HMGet(ctx, p.List(id.List()).Properties(), "owner").Result(); err == nil {
			err = s.durably(ctx, rdb.Call{
				Script: script.RemoveMember,
				Keys:   []string{p.List(id.List()).Properties(), p.List(id.List()).Members(), p.User(author).Listed(), p.Outbox()},
				Args:   []any{rdb.Text(owner[0]), id.List().String(), author.String(), rdb.OriginOf(ctx)},
			}).Err()
		}
	}
	if err != nil {
		return false, fmt.Errorf("remove the deleted author %s from timeline %s: %w", author, id, entryError(err))
	}
	return true, nil
}

// FinishRegistration finishes an interrupted registration, or deletes the account if another user got the name. It
// reports false while the registration may still be in progress.
func (s *Tasks) FinishRegistration(ctx context.Context, id retwis.UserID, folded string) (bool, error) {
	state, err := s.db.Client.HMGet(ctx, s.db.OfUser(id).User(id).Account(), "state", "created").Result()
	if err != nil {
		return false, fmt.Errorf("finish the registration of %s: %w", id, err)
	}
	if state[0] != "pending" {
		return true, nil
	}
	created, _ := state[1].(string)
	millis, err := strconv.ParseInt(created, 10, 64)
	if err != nil {
		return false, fmt.Errorf("finish the registration of %s: created %q: %w", id, created, err)
	}
	// An account from the future was created before the clock went back.
	if time.Since(time.UnixMilli(millis)).Abs() < s.options.PendingGrace {
		return false, nil
	}
	holder, err := s.accounts.ClaimName(ctx, folded, id)
	if err != nil {
		return false, fmt.Errorf("finish the registration of %s: %w", id, err)
	}
	if holder == id {
		return true, activated(id, s.durably(ctx, s.accounts.ActivateCall(id)))
	}
	if err := s.durably(ctx, rdb.Call{Script: script.DeletePendingUser, Keys: []string{s.db.OfUser(id).User(id).Account()}}).Err(); err != nil {
		return false, fmt.Errorf("finish the registration of %s: %w", id, err)
	}
	return true, nil
}

// RepairTimelines merges an author's newest posts into the next homes of followers in a partition, or the next lists
// that contain the author. Pass the score that the previous call returned, 0 at first. It returns false when there are
// no more.
func (s *Tasks) RepairTimelines(ctx context.Context, author retwis.UserID, number int, to outbox.TargetKind, after int64) (int64, bool, error) {
	const step = 20
	p := s.db.Partition(number)
	edges, kind := p.User(author).Followers(), retwis.HomeTimeline
	if to == outbox.TargetLists {
		edges, kind = p.User(author).Listed(), retwis.ListTimeline
	}
	found, err := s.db.Client.ZRangeByScoreWithScores(ctx, edges, &redis.ZRangeBy{
		Min: fmt.Sprintf("(%d", after), Max: "+inf", Count: step,
	}).Result()
	if err != nil {
		return 0, false, fmt.Errorf("repair the timelines that follow %s: %w", author, err)
	}
	for _, follower := range found {
		id, err := retwis.ParseUserID(rdb.Text(follower.Member))
		if err != nil {
			return 0, false, fmt.Errorf("repair the timelines that follow %s: %w", author, err)
		}
		if err := s.Backfill(ctx, retwis.TimelineID{Kind: kind, Owner: id}, author, 0); err != nil {
			return 0, false, err
		}
		after = int64(follower.Score)
	}
	return after, len(found) == step, nil
}

// entryError wraps an error reply of a script in [outbox.ErrRejected].
func entryError(err error) error {
	if rdb.Answered(err) {
		return fmt.Errorf("%w: %w", outbox.ErrRejected, err)
	}
	return err
}
