package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// firstScore is what the score of a reply that comes before all others is lower by: see lib/replyset.lua.
const firstScore = 10_000_000_000_000

// RepliesRecord returns the stored replies of a post.
func (s *Inspector) RepliesRecord(ctx context.Context, to retwis.PostID) (record.Replies, error) {
	r := record.Replies{Held: map[retwis.PostID]bool{}}
	p, ok := s.db.OfPost(to)
	if !ok {
		return r, nil
	}
	pipe := s.db.Client.Pipeline()
	members := pipe.ZRangeWithScores(ctx, p.Replies(to), 0, -1)
	trimmed := pipe.HMGet(ctx, p.Post(to), "replies_trimmed")
	if _, err := pipe.Exec(ctx); err != nil {
		return r, fmt.Errorf("inspect the replies of post %s: %w", to, err)
	}
	r.Trimmed = trimmed.Val()[0] != nil
	for _, m := range members.Val() {
		member, score := rdb.Text(m.Member), int64(m.Score)
		id, err := retwis.ParsePostID(member)
		first := score < 0
		if first {
			score += firstScore
		}
		if err != nil || score != id.CreatedAt().UnixMilli() {
			r.Foreign = append(r.Foreign, member)
			continue
		}
		r.Held[id] = first
	}
	return r, nil
}

// LostReplies returns the replies that the replies of their posts should hold but lack. Those that were trimmed are not lost.
func (s *Inspector) LostReplies(ctx context.Context, replies []record.Reply) ([]record.Reply, error) {
	const step = 500
	var lost []record.Reply
	for some := range slices.Chunk(replies, step) {
		pipe := s.db.Client.Pipeline()
		scores := make([]*redis.FloatCmd, len(some))
		oldest := make([]*redis.ZSliceCmd, len(some))
		trimmed := make([]*redis.SliceCmd, len(some))
		for i, reply := range some {
			p, ok := s.db.OfPost(reply.To)
			if !ok {
				continue
			}
			scores[i] = pipe.ZScore(ctx, p.Replies(reply.To), reply.ID.String())
			oldest[i] = pipe.ZRangeByScoreWithScores(ctx, p.Replies(reply.To), &redis.ZRangeBy{Min: "0", Max: "+inf", Count: 1})
			trimmed[i] = pipe.HMGet(ctx, p.Post(reply.To), "replies_trimmed")
		}
		_, _ = pipe.Exec(ctx) // every read holds its own error
		for i, reply := range some {
			if scores[i] == nil {
				continue
			}
			err := scores[i].Err()
			if err == nil {
				continue
			}
			if err != redis.Nil || oldest[i].Err() != nil || trimmed[i].Err() != nil { //nolint:errorlint // the driver returns it as it is
				return nil, fmt.Errorf("inspect the replies of post %s: %w", reply.To, err)
			}
			older := oldest[i].Val()
			if trimmed[i].Val()[0] != nil && (len(older) == 0 || reply.ID.CreatedAt().UnixMilli() <= int64(older[0].Score)) {
				continue
			}
			lost = append(lost, reply)
		}
	}
	return lost, nil
}

// RepairReply makes the replies of a post hold an entry if its record demands it, and removes it otherwise.
func (s *Repairer) RepairReply(ctx context.Context, to retwis.PostID, entry string) error {
	p, ok := s.db.OfPost(to)
	if !ok {
		return nil
	}
	id, err := retwis.ParsePostID(entry)
	if err != nil {
		if err := s.db.Client.ZRem(ctx, p.Replies(to), entry).Err(); err != nil {
			return fmt.Errorf("repair the replies of post %s: %w", to, err)
		}
		return nil
	}
	for { // the reply may be deleted meanwhile
		records, err := s.inspector.PostRecords(ctx, []retwis.PostID{id})
		if err != nil {
			return err
		}
		r := records[0]
		remove := !r.Exists || r.Deleted || r.ReplyTo != to
		err = s.db.Do(ctx, rdb.Call{
			Script: script.RepairReply, Keys: []string{p.Replies(to), p.Post(to)},
			Args: store.ReplyArgs(s.options, id, remove, r.Answered == 0),
		}).Err()
		if err != nil {
			return fmt.Errorf("repair reply %s of post %s: %w", id, to, err)
		}
		if remove {
			return nil
		}
		if again, err := s.inspector.PostRecords(ctx, []retwis.PostID{id}); err != nil || !again[0].Deleted {
			return err
		}
	}
}
