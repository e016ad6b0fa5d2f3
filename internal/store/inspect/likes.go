package inspect

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// PostLikes returns the stored likes of a post. It reads the partition of the post first: a change of the likers is recorded
// until their number has been stored.
func (s *Inspector) PostLikes(ctx context.Context, post retwis.PostID) (record.PostLikes, error) {
	r := record.PostLikes{Partitions: map[int]record.FollowerPartition{}, LikersIn: map[int]int{}, Changed: map[int]bool{}}
	home, ok := s.db.OfPost(post)
	if !ok {
		return r, nil
	}
	pipe := s.db.Client.TxPipeline()
	exists := pipe.HExists(ctx, home.Post(post), "text")
	fields := pipe.HGetAll(ctx, home.LikePartitions(post))
	if _, err := pipe.Exec(ctx); err != nil {
		return r, fmt.Errorf("inspect the likes of post %s: %w", post, err)
	}
	r.Exists = exists.Val()
	for field, value := range fields.Val() {
		number, err := strconv.Atoi(field)
		if err != nil {
			r.Total.Stored = int(rdb.Number(value)) // of the field total
			continue
		}
		version, count, _ := strings.Cut(value, ":")
		r.Partitions[number] = record.FollowerPartition{Version: rdb.Number(version), Count: int(rdb.Number(count))}
		r.Total.Actual += r.Partitions[number].Count
	}
	all := s.db.Client.Pipeline()
	likers := make([]*redis.IntCmd, len(s.db.Partitions()))
	changed := make([]*redis.FloatCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		likers[i] = all.ZCard(ctx, p.Likers(post))
		changed[i] = all.ZScore(ctx, p.ChangedLikes(), post.String())
	}
	_, _ = all.Exec(ctx) // every result holds its own error
	for i := range s.db.Partitions() {
		n, err := likers[i].Result()
		if err != nil {
			return r, fmt.Errorf("inspect the likes of post %s: %w", post, err)
		}
		if n > 0 {
			r.LikersIn[i] = int(n)
		}
		if err := changed[i].Err(); err == nil {
			r.Changed[i] = true
		} else if !errors.Is(err, redis.Nil) {
			return r, fmt.Errorf("inspect the likes of post %s: %w", post, err)
		}
	}
	return r, nil
}

// LikersOf scans the likers of a post in partitions and returns the likes whose two directions differ.
func (s *Inspector) LikersOf(ctx context.Context, post retwis.PostID, partitions []int) ([]record.Like, error) {
	scans := make([]*edgeScan, len(partitions))
	for i, number := range partitions {
		p := s.db.Partition(number)
		scans[i] = &edgeScan{set: p.Likers(post), owner: post, prefix: p.Prefix(rdb.LikesKeys)}
	}
	if err := s.scanEdges(ctx, scans); err != nil {
		return nil, fmt.Errorf("inspect the likers of post %s: %w", post, err)
	}
	var likes []record.Like
	for _, scan := range scans {
		for _, h := range scan.half {
			user, err := retwis.ParseUserID(h.member)
			if err != nil {
				return nil, fmt.Errorf("inspect the likers of post %s: %w", post, err)
			}
			likes = append(likes, record.Like{User: user, Post: post, Liked: h.other, Liker: h.score})
		}
	}
	return likes, nil
}

// LikesOf scans the likes of a user and returns those whose two directions differ.
func (s *Inspector) LikesOf(ctx context.Context, user retwis.UserID) ([]record.Like, error) {
	p := s.db.OfUser(user)
	scan := &edgeScan{set: p.User(user).Likes(), owner: user, prefix: p.Prefix(rdb.LikerKeys)}
	if err := s.scanEdges(ctx, []*edgeScan{scan}); err != nil {
		return nil, fmt.Errorf("inspect the likes of %s: %w", user, err)
	}
	var likes []record.Like
	for _, h := range scan.half {
		post, err := retwis.ParsePostID(h.member)
		if err != nil {
			return nil, fmt.Errorf("inspect the likes of %s: %w", user, err)
		}
		likes = append(likes, record.Like{User: user, Post: post, Liked: h.score, Liker: h.other})
	}
	return likes, nil
}

// RepairLike makes both directions of a like agree. It restores a missing direction, and removes a like of a post or a user
// that does not exist.
func (s *Repairer) RepairLike(ctx context.Context, user retwis.UserID, post retwis.PostID) error {
	p := s.db.OfUser(user)
	exists, err := s.likes.AddLikePartition(ctx, post, p)
	if err != nil {
		return fmt.Errorf("repair the like of %s and post %s: %w", user, post, err)
	}
	arg := "0"
	if exists {
		arg = "1"
	}
	_, err = s.db.DoDurably(ctx, rdb.Call{
		Script: script.RepairLike,
		Keys:   []string{p.User(user).Account(), p.User(user).Likes(), p.Likers(post), p.ChangedLikes()},
		Args:   []any{user.String(), post.String(), arg},
	})
	if err != nil {
		return fmt.Errorf("repair the like of %s and post %s: %w", user, post, err)
	}
	return s.countLikes(ctx, p)
}

// RepairLikeCount counts the likers of a post in a partition, and adds up the likes of the post. If the post does not exist, it
// removes its likes there; if they are thousands, a worker goes on.
func (s *Repairer) RepairLikeCount(ctx context.Context, post retwis.PostID, number int) error {
	home, ok := s.db.OfPost(post)
	if !ok {
		return nil
	}
	p := s.db.Partition(number)
	_, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.RepairLikeCount, Keys: []string{home.Post(post), home.LikePartitions(post)}, Args: []any{number},
	})
	if err == nil {
		due := redis.Z{Member: post.String()} // since 1970
		err = s.db.Client.ZAdd(ctx, p.ChangedLikes(), due).Err()
	}
	if err != nil {
		return fmt.Errorf("repair the likes of post %s in partition %d: %w", post, number, err)
	}
	return s.countLikes(ctx, p)
}

// countLikes stores the changed numbers of likers of a partition. If a worker does so at the same time, it stores the same.
func (s *Repairer) countLikes(ctx context.Context, p rdb.Partition) error {
	for more := true; more; {
		var err error
		if more, err = s.tasks.CountLikes(ctx, []int{p.Number}); err != nil {
			return fmt.Errorf("repair likes: %w", err)
		}
	}
	return nil
}
