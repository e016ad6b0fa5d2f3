package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Bounds of the scripts of [Tasks.CountLikes].
const (
	countedPosts = 200 // posts of a partition whose likers are counted in one call
	removedLikes = 50  // likes of a deleted post that a script removes, in half a millisecond if the likers' sets are packed
)

// Work of the scripts, in pushes to a timeline: see [rdb.DB.DoInPieces].
const (
	countWork  = 1  // to count the likers of a post in a partition
	storeWork  = 10 // to store their number
	settleWork = 2  // to note that it is stored
	unlikeWork = 3  // to remove a like

	removalWork = 20_000 // to remove likes of deleted posts in one call of [Tasks.CountLikes], about 60 ms: the likes of all other posts wait for it
)

// likersIn is the number of likers of a post in a partition.
type likersIn struct {
	partition rdb.Partition
	version   string
	count     int
}

// countCall returns the call that stores the number of likers of a post in a partition, at the partition of the post, unless
// a newer version is stored.
func (s *core) countCall(post retwis.PostID, in likersIn) rdb.Call {
	home := s.db.OfBucket(post.Bucket())
	return rdb.Call{
		Script: script.SetLikeCount,
		Keys:   []string{home.Post(post), home.LikePartitions(post), home.Online(), home.OnlineNodes()},
		Args: []any{
			in.partition.Number, in.version, in.count, post.String(), s.db.Publish, home.Prefix(rdb.LiveChannels),
			retwis.PostCounts(home.Number).String(),
		},
		Work: storeWork,
	}
}

// changedLikes are the likers of a post in a partition, which have changed.
type changedLikes struct {
	likersIn
	post    retwis.PostID
	due     string // the time from which it was due
	settled bool   // whether the number was stored already
	stored  bool   // whether this call stored it
	gone    bool   // whether the post does not exist
	removed bool   // whether none of its likes remain in the partition
}

// CountLikes stores the numbers of likers that have changed in some partitions, at the partitions of the posts. It removes
// the likes of deleted posts. It handles the posts whose number was last stored at least [Options.LikePeriod] ago. A change
// stays recorded until a later call finds its number stored, so a call may be interrupted, repeated, or concurrent with others.
// It reports whether more posts are due.
func (s *Tasks) CountLikes(ctx context.Context, partitions []int) (more bool, err error) {
	changed, more, err := s.dueLikes(ctx, partitions)
	if err != nil || len(changed) == 0 {
		return more, err
	}
	if err := s.verifyLikers(ctx, changed); err != nil {
		return false, fmt.Errorf("count likes: %w", err)
	}
	failures := s.storeLikeCounts(ctx, changed)
	failures = append(failures, s.removeLikes(ctx, changed)...)
	var done []*changedLikes // the others stay due
	for _, c := range changed {
		if c.settled || c.stored || c.gone {
			done = append(done, c)
		}
	}
	if err := s.verifyLikeCounts(ctx, done); err != nil {
		return false, fmt.Errorf("count likes: %w", err)
	}
	return more, errors.Join(append(failures, s.settleLikes(ctx, done))...)
}

// dueLikes counts the likers of the posts that are due in some partitions. It reports whether more posts are due.
func (s *Tasks) dueLikes(ctx context.Context, partitions []int) (changed []*changedLikes, more bool, err error) {
	calls := make([]rdb.Call, len(partitions))
	for i, number := range partitions {
		p := s.db.Partition(number)
		calls[i] = rdb.Call{
			Script: script.DueLikes, Keys: []string{p.ChangedLikes(), p.Clock()},
			Args: []any{countedPosts, p.Prefix(rdb.LikerKeys), s.options.LikePeriod.Milliseconds()},
			Work: countedPosts * countWork,
		}
	}
	var failures []error
	for i, result := range s.db.DoInPieces(ctx, calls) {
		reply, err := result.Slice()
		if err != nil || len(reply) == 0 {
			failures = append(failures, fmt.Errorf("count the changed likes of partition %d: reply %v: %w", partitions[i], reply, err))
			continue
		}
		for k := 1; k+2 < len(reply); k += 3 {
			post, err := retwis.ParsePostID(rdb.Text(reply[k]))
			if err != nil {
				failures = append(failures, fmt.Errorf("count the changed likes of partition %d: %w", partitions[i], err))
				continue
			}
			count, _ := reply[k+2].(int64)
			changed = append(changed, &changedLikes{
				likersIn: likersIn{s.db.Partition(partitions[i]), rdb.Text(reply[0]), int(count)}, post: post, due: rdb.Text(reply[k+1]),
			})
		}
		more = more || len(reply) == 1+3*countedPosts
	}
	if len(changed) > 0 {
		return changed, more, nil // a master that does not answer does not stop the others
	}
	return nil, false, errors.Join(failures...)
}

// verifyLikers verifies that the likes which were counted are durable. A failover must not lose a like that is counted.
func (s *Tasks) verifyLikers(ctx context.Context, changed []*changedLikes) error {
	records := map[int]rdb.Record{}
	for _, c := range changed {
		records[c.partition.Number] = func(ctx context.Context, pipe redis.Pipeliner) (redis.Cmder, func() bool) {
			cmd := pipe.ZScore(ctx, c.partition.ChangedLikes(), c.post.String())
			return cmd, func() bool { return cmd.Err() == nil }
		}
	}
	return s.db.VerifyRecords(ctx, records)
}

// storeLikeCounts stores the numbers of likers. It records which numbers were stored already, and which posts do not exist.
func (s *Tasks) storeLikeCounts(ctx context.Context, changed []*changedLikes) (failures []error) {
	calls := make([]rdb.Call, len(changed))
	for i, c := range changed {
		calls[i] = s.countCall(c.post, c.likersIn)
	}
	for i, result := range s.db.DoInPieces(ctx, calls) {
		answer, err := result.Text()
		if err != nil {
			failures = append(failures, fmt.Errorf("count the likes of post %s: %w", changed[i].post, err))
			continue
		}
		switch answer {
		case "same":
			changed[i].settled = true
		case "gone":
			changed[i].gone = true
		case "newer": // another call has counted since; the post stays due
		default:
			changed[i].stored = true
			s.metrics.likeCounts.Inc()
		}
	}
	return failures
}

// removeLikes removes likes of those of some posts that are deleted, and records where none remain. What is too much work for one call is due again after
// a period, behind posts that others like: accounts with thousands of posts may be deleted at once.
func (s *Tasks) removeLikes(ctx context.Context, changed []*changedLikes) (failures []error) {
	var calls []rdb.Call
	var of []*changedLikes
	left := removalWork
	for _, c := range changed {
		for n := 0; c.gone && left > 0 && n <= (c.count-1)/removedLikes; n++ {
			call := rdb.Call{
				Script: script.RemoveLikes, Keys: []string{c.partition.Likers(c.post)},
				Args: []any{c.post.String(), removedLikes, c.partition.Prefix(rdb.LikesKeys)},
				Work: storeWork + unlikeWork*min(c.count, removedLikes),
			}
			left -= call.Work
			calls, of = append(calls, call), append(of, c)
		}
	}
	for i, result := range s.db.DoInPieces(ctx, calls) {
		none, err := result.Bool()
		if err != nil {
			failures = append(failures, fmt.Errorf("remove the likes of post %s: %w", of[i].post, err))
		}
		of[i].removed = of[i].removed || none
	}
	return append(failures, s.removeLikePartitions(ctx, changed)...)
}

// removeLikePartitions removes the numbers of likers of deleted posts in partitions where none remain.
func (s *Tasks) removeLikePartitions(ctx context.Context, changed []*changedLikes) (failures []error) {
	var calls []rdb.Call
	var of []*changedLikes
	for _, c := range changed {
		if c.removed {
			c.count = 0
			calls, of = append(calls, s.countCall(c.post, c.likersIn)), append(of, c)
		}
	}
	for i, result := range s.db.DoInPieces(ctx, calls) {
		if err := result.Err(); err != nil {
			failures = append(failures, fmt.Errorf("remove the number of likes of post %s: %w", of[i].post, err))
			continue
		}
		of[i].settled = true
	}
	return failures
}

// verifyLikeCounts verifies that the stored numbers of likers are durable. Replicas receive the writes of a partition in
// order, so it verifies the last one of each partition.
func (s *Tasks) verifyLikeCounts(ctx context.Context, changed []*changedLikes) error {
	records := map[int]rdb.Record{}
	for _, c := range changed {
		if c.gone {
			continue
		}
		home := s.db.OfBucket(c.post.Bucket())
		records[home.Number] = func(ctx context.Context, pipe redis.Pipeliner) (redis.Cmder, func() bool) {
			cmd := pipe.HMGet(ctx, home.LikePartitions(c.post), strconv.Itoa(c.partition.Number))
			return cmd, func() bool {
				version, _, _ := strings.Cut(rdb.Text(cmd.Val()[0]), ":")
				return rdb.Number(version) >= rdb.Number(c.version)
			}
		}
	}
	return s.db.VerifyRecords(ctx, records)
}

// settleLikes removes the posts whose numbers were stored already, and are still right, from the changed likes. The other
// posts are due again after a period.
func (s *Tasks) settleLikes(ctx context.Context, changed []*changedLikes) error {
	settle := map[int]*rdb.Call{}
	for _, c := range changed {
		call := settle[c.partition.Number]
		if call == nil {
			call = &rdb.Call{
				Script: script.SettleLikes, Keys: []string{c.partition.ChangedLikes()},
				Args: []any{c.partition.Prefix(rdb.LikerKeys), s.options.LikePeriod.Milliseconds()},
			}
			settle[c.partition.Number] = call
		}
		count := ""
		if c.settled {
			count = strconv.Itoa(c.count)
		}
		call.Args = append(call.Args, c.post.String(), c.due, count)
		call.Work += settleWork
	}
	var calls []rdb.Call
	for _, call := range settle {
		calls = append(calls, *call)
	}
	for _, result := range s.db.DoInPieces(ctx, calls) {
		if err := result.Err(); err != nil {
			return fmt.Errorf("settle changed likes: %w", err)
		}
	}
	return nil
}

// ChangedLikes returns the number of posts whose number of likers may not be stored yet, in all partitions.
func (s *Likes) ChangedLikes(ctx context.Context) (int, error) {
	pipe := s.db.Client.Pipeline()
	sizes := make([]*redis.IntCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		sizes[i] = pipe.ZCard(ctx, p.ChangedLikes())
	}
	_, _ = pipe.Exec(ctx) // every size holds its own error
	total := 0
	for i, size := range sizes {
		n, err := size.Result()
		if err != nil {
			return 0, fmt.Errorf("read the changed likes of partition %d: %w", i, err)
		}
		total += int(n)
	}
	return total, nil
}

// LikePartitions returns for each post the partitions that may hold likers of it.
func (s *Outbox) LikePartitions(ctx context.Context, posts []retwis.PostID) ([][]int, error) {
	return s.likePartitions(ctx, posts)
}

func (s *core) likePartitions(ctx context.Context, posts []retwis.PostID) ([][]int, error) {
	pipe := s.db.Client.Pipeline()
	reads := make([]*redis.StringSliceCmd, len(posts))
	for i, post := range posts {
		if p, ok := s.db.OfPost(post); ok {
			reads[i] = pipe.HKeys(ctx, p.LikePartitions(post))
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx) // every read holds its own error
	}
	all := make([][]int, len(posts))
	for i, read := range reads {
		if read == nil {
			continue
		}
		fields, err := read.Result()
		if err != nil {
			return nil, fmt.Errorf("read the like partitions of post %s: %w", posts[i], err)
		}
		for _, field := range fields {
			if number, err := strconv.Atoi(field); err == nil && number >= 0 && number < len(s.db.Partitions()) {
				all[i] = append(all[i], number) // all fields but total
			}
		}
	}
	return all, nil
}
