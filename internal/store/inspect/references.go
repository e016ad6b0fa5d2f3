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

// ReferencesRecord returns the stored replies or quotes of a post.
func (s *Inspector) ReferencesRecord(ctx context.Context, to record.Referenced) (record.References, error) {
	r := record.References{Held: map[retwis.PostID]bool{}}
	p, ok := s.db.OfPost(to.Post)
	if !ok {
		return r, nil
	}
	members, err := s.db.Client.ZRangeWithScores(ctx, p.References(to.Kind, to.Post), 0, -1).Result()
	if err != nil {
		return r, fmt.Errorf("inspect the %s of post %s: %w", to.Kind, to.Post, err)
	}
	for _, m := range members {
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

// LostReferences returns the replies and quotes that those of their posts should hold but lack. Those that were trimmed are not lost.
func (s *Inspector) LostReferences(ctx context.Context, references []record.Reference) ([]record.Reference, error) {
	const step = 500
	var lost []record.Reference
	for some := range slices.Chunk(references, step) {
		pipe := s.db.Client.Pipeline()
		scores := make([]*redis.FloatCmd, len(some))
		oldest := make([]*redis.ZSliceCmd, len(some))
		trimmed := make([]*redis.SliceCmd, len(some))
		for i, reference := range some {
			to := reference.To
			p, ok := s.db.OfPost(to.Post)
			if !ok {
				continue
			}
			key := p.References(to.Kind, to.Post)
			scores[i] = pipe.ZScore(ctx, key, reference.ID.String())
			oldest[i] = pipe.ZRangeByScoreWithScores(ctx, key, &redis.ZRangeBy{Min: "0", Max: "+inf", Count: 1})
			trimmed[i] = pipe.HMGet(ctx, p.Post(to.Post), string(to.Kind)+"_trimmed")
		}
		_, _ = pipe.Exec(ctx) // every read holds its own error
		for i, reference := range some {
			if scores[i] == nil {
				continue
			}
			err := scores[i].Err()
			if err == nil {
				continue
			}
			if err != redis.Nil || oldest[i].Err() != nil || trimmed[i].Err() != nil { //nolint:errorlint // the driver returns it as it is
				return nil, fmt.Errorf("inspect the %s of post %s: %w", reference.To.Kind, reference.To.Post, err)
			}
			older := oldest[i].Val()
			if trimmed[i].Val()[0] != nil && (len(older) == 0 || reference.ID.CreatedAt().UnixMilli() <= int64(older[0].Score)) {
				continue
			}
			lost = append(lost, reference)
		}
	}
	return lost, nil
}

// RepairReference makes the replies or quotes of a post hold an entry if its record demands it, and removes it otherwise.
func (s *Repairer) RepairReference(ctx context.Context, to record.Referenced, entry string) error {
	p, ok := s.db.OfPost(to.Post)
	if !ok {
		return nil
	}
	key := p.References(to.Kind, to.Post)
	id, err := retwis.ParsePostID(entry)
	if err != nil {
		if err := s.db.Client.ZRem(ctx, key, entry).Err(); err != nil {
			return fmt.Errorf("repair the %s of post %s: %w", to.Kind, to.Post, err)
		}
		return nil
	}
	for { // the post may be deleted meanwhile
		records, err := s.inspector.PostRecords(ctx, []retwis.PostID{id})
		if err != nil {
			return err
		}
		r := records[0]
		remove := !r.Exists || r.Deleted || r.RefersTo(to.Kind) != to.Post
		err = s.db.Do(ctx, rdb.Call{
			Script: script.RepairReference, Keys: []string{key, p.Post(to.Post)},
			Args: store.ReferenceArgs(s.options, to.Kind, id, remove, comesFirst(to.Kind, r)),
		}).Err()
		if err != nil {
			return fmt.Errorf("repair %s of post %s, %s: %w", to.Kind, to.Post, id, err)
		}
		if remove {
			return nil
		}
		if again, err := s.inspector.PostRecords(ctx, []retwis.PostID{id}); err != nil || !again[0].Deleted {
			return err
		}
	}
}

// comesFirst reports whether a post comes before those of other users, among the replies to its own author.
func comesFirst(kind retwis.ReferenceKind, r record.Post) bool {
	return kind == retwis.ReplyReference && r.Answered == 0
}

// RepostsOfUser returns what is stored as the reposts of a user, by the post that each one shows.
func (s *Inspector) RepostsOfUser(ctx context.Context, user retwis.UserID) (map[string]string, error) {
	held, err := s.db.Client.HGetAll(ctx, s.db.OfUser(user).User(user).Reposted()).Result()
	if err != nil {
		return nil, fmt.Errorf("inspect the reposts of user %s: %w", user, err)
	}
	return held, nil
}

// StaleHiddenReposters returns the members of a user's set of hidden reposters whom the user does not follow.
func (s *Inspector) StaleHiddenReposters(ctx context.Context, user retwis.UserID) ([]string, error) {
	keys := s.db.OfUser(user).User(user)
	members, err := s.db.Client.SMembers(ctx, keys.HiddenReposters()).Result()
	if err != nil || len(members) == 0 {
		return nil, err
	}
	scores, err := s.db.Client.ZMScore(ctx, keys.Following(), members...).Result()
	if err != nil {
		return nil, fmt.Errorf("inspect the hidden reposters of user %s: %w", user, err)
	}
	var stale []string
	for i, score := range scores {
		if score == 0 {
			stale = append(stale, members[i])
		}
	}
	return stale, nil
}

// RepairHiddenReposter makes a user no longer hide the reposts of a user whom the user does not follow.
func (s *Repairer) RepairHiddenReposter(ctx context.Context, user retwis.UserID, reposter string) error {
	keys := s.db.OfUser(user).User(user)
	err := s.db.Do(ctx, rdb.Call{
		Script: script.RepairHiddenReposter, Keys: []string{keys.HiddenReposters(), keys.Following()}, Args: []any{reposter},
	}).Err()
	if err != nil {
		return fmt.Errorf("repair the hidden reposters of user %s: %w", user, err)
	}
	return nil
}

// RepairRepostOfUser makes the reposts of a user hold the one of a post that the user has not undone, if there is one.
func (s *Repairer) RepairRepostOfUser(ctx context.Context, user retwis.UserID, post string) error {
	p := s.db.OfUser(user)
	err := s.db.Do(ctx, rdb.Call{
		Script: script.RepairRepostOfUser, Keys: []string{p.User(user).Reposted(), p.User(user).Profile()},
		Args: []any{user.String(), post, p.Prefix(rdb.PostKeys)},
	}).Err()
	if err != nil {
		return fmt.Errorf("repair the repost of post %s by user %s: %w", post, user, err)
	}
	return nil
}
