package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Tags finds hashtags, and creates and drops them. A hashtag, the claim of its name and its timeline are in one partition.
type Tags struct{ core }

// ClaimTags returns the hashtags with some names, which it creates if they do not exist. A repeat has no effect. A hashtag that is
// claimed is not dropped for [Options.IdleTagAge].
func (s *Tags) ClaimTags(ctx context.Context, names []retwis.HashtagRange) ([]retwis.TagID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	calls := make([]rdb.Call, len(names))
	for i, name := range names {
		p, bucket := s.placeOfTag(name.Folded)
		calls[i] = rdb.Call{
			Script: script.ClaimTag, Keys: []string{p.TagName(name.Folded), p.NextUser()}, Args: []any{bucket, name.Name, p.Prefix(rdb.TagKeys)},
		}
	}
	replies, err := s.db.DoAllDurably(ctx, calls)
	if err != nil {
		return nil, fmt.Errorf("claim %d hashtags: %w", len(names), err)
	}
	ids := make([]retwis.TagID, len(names))
	for i, reply := range replies {
		fields, err := reply.Slice()
		if err == nil && len(fields) != 2 {
			err = fmt.Errorf("reply %v", fields)
		}
		if err == nil {
			ids[i], err = retwis.ParseTagID(rdb.Text(fields[0]))
		}
		if err != nil {
			return nil, fmt.Errorf("claim %d hashtags: %w", len(names), err)
		}
		if fields[1] == int64(1) {
			s.metrics.tags.WithLabelValues(tagCreated).Inc()
		}
	}
	return ids, nil
}

// placeOfTag returns the partition that holds a hashtag, and the bucket of its id, which is the hash of the folded name.
func (s *Tags) placeOfTag(folded string) (rdb.Partition, int) {
	bucket := rdb.BucketOfHash([]byte(folded))
	return s.db.OfBucket(bucket), bucket
}

// Tags returns hashtags in the order of their ids, nil for those that do not exist, or no longer.
func (s *Tags) Tags(ctx context.Context, ids []retwis.TagID) ([]*retwis.Tag, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := s.db.Client.Pipeline()
	names := make([]*redis.StringCmd, len(ids))
	for i, id := range ids {
		names[i] = pipe.HGet(ctx, s.db.OfBucket(id.Bucket()).Hashtag(id).Record(), "name")
	}
	_, _ = pipe.Exec(ctx) // every name holds its own error
	tags := make([]*retwis.Tag, len(ids))
	for i, name := range names {
		switch err := name.Err(); {
		case errors.Is(err, redis.Nil):
		case err != nil:
			return nil, fmt.Errorf("read %d hashtags: %w", len(ids), err)
		default:
			tags[i] = &retwis.Tag{ID: ids[i], Name: name.Val()}
		}
	}
	return tags, nil
}

// TagByName returns the hashtag with a folded name, or [retwis.ErrNotFound].
func (s *Tags) TagByName(ctx context.Context, folded string) (*retwis.Tag, error) {
	claim, err := s.db.Client.Get(ctx, s.db.OfName(folded).TagName(folded)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, retwis.ErrNotFound
	}
	var tag *retwis.Tag
	if err == nil {
		tag, err = ParseTagClaim(claim)
	}
	if err != nil {
		return nil, fmt.Errorf("find a hashtag by its name: %w", err)
	}
	return tag, nil
}

// ParseTagClaim parses the value of [rdb.Partition.TagName].
func ParseTagClaim(claim string) (*retwis.Tag, error) {
	number, name, found := strings.Cut(claim, " ")
	id, err := retwis.ParseTagID(number)
	if err != nil || !found {
		return nil, fmt.Errorf("invalid claim of a hashtag: %q", claim)
	}
	return &retwis.Tag{ID: id, Name: name}, nil
}

// dropIdle drops hashtags that no post has used for [Options.IdleTagAge] and nobody watches, up to an eighth of that time later. It returns
// how many it dropped. A post can use ten hashtags, which would all be looked up ninety times, so it looks up none that are younger, and others
// each seventh day only.
func (s *Tags) dropIdle(ctx context.Context, ids []retwis.TagID) (dropped int, err error) {
	now, days := s.options.Now(), int64(s.options.IdleTagAge/day)
	ids = slices.DeleteFunc(ids, func(id retwis.TagID) bool {
		age := now.Sub(id.CreatedAt())
		return age < s.options.IdleTagAge || int64(age/day)%max(days/12, 1) != 0
	})
	if len(ids) == 0 || s.options.IdleTagAge < 0 {
		return 0, nil
	}
	pipe := s.db.Client.Pipeline()
	rows := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		rows[i] = pipe.HMGet(ctx, s.db.OfBucket(id.Bucket()).Hashtag(id).Record(), "name", "used")
	}
	_, _ = pipe.Exec(ctx) // every row holds its own error
	var calls []rdb.Call
	for i, row := range rows {
		fields, err := row.Result()
		if err != nil {
			return 0, fmt.Errorf("read the age of hashtags: %w", err)
		}
		if now.Unix()/86_400-rdb.Number(fields[1]) <= days { // the script decides by the clock of Redis
			continue
		}
		p, id := s.db.OfBucket(ids[i].Bucket()), ids[i]
		calls = append(calls, rdb.Call{
			Script: script.DropTag,
			Keys:   []string{p.Hashtag(id).Record(), p.TagName(retwis.FoldTag(rdb.Text(fields[0]))), p.Hashtag(id).Posts(), p.Online()},
			Args:   []any{id.String(), retwis.TagPosts(id).String(), days},
		})
	}
	for _, reply := range s.db.DoAll(ctx, calls) {
		n, err := reply.Int()
		if err != nil {
			return dropped, fmt.Errorf("drop a hashtag: %w", err)
		}
		dropped += n
	}
	s.metrics.tags.WithLabelValues(tagDropped).Add(float64(dropped))
	return dropped, nil
}
