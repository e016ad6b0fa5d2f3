package check_test

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/check"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

func TestRun_FindsAndRepairsWrongLikes(t *testing.T) {
	t.Parallel()
	likes := func(d *damage) string { return d.only(":likes:" + d.reader.String()) }
	likers := func(d *damage) string { return in(likes(d), "likers:"+d.posts[0].String()) }
	partitions := func(d *damage) string { return d.only(":like_partitions:" + d.posts[0].String()) }
	partition := func(d *damage) string { return strconv.Itoa(d.Outbox.PartitionOfUser(d.reader)) }
	// never has the bucket of an existing post, and an id that was not assigned.
	never := func(d *damage) string { return (d.posts[0]%1_000_000 + 1_500_000_000_000_000_000).String() }
	tests := []struct {
		name    string
		corrupt func(ctx context.Context, d *damage) error
		want    map[check.Kind]int
	}{
		{"like without the liker", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, likers(d), d.reader.String()).Err()
		}, map[check.Kind]int{check.OneWayLike: 1, check.LikeCount: 1}},
		{"liker without the like", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, likes(d), d.posts[0].String()).Err()
		}, map[check.Kind]int{check.OneWayLike: 1}},
		{"different times of a like", func(ctx context.Context, d *damage) error {
			return d.ZIncrBy(ctx, likes(d), 5, d.posts[0].String()).Err()
		}, map[check.Kind]int{check.OneWayLike: 1}},
		{"like of a post that does not exist", func(ctx context.Context, d *damage) error {
			like := redis.Z{Score: 77, Member: never(d)}
			d.must(d.ZAdd(ctx, likes(d), like).Err())
			return d.ZAdd(ctx, in(likes(d), "likers:"+never(d)), redis.Z{Score: 77, Member: d.reader.String()}).Err()
		}, map[check.Kind]int{check.LikeExtra: 1}},
		{"one direction of a like of a post that does not exist", func(ctx context.Context, d *damage) error {
			return d.ZAdd(ctx, likes(d), redis.Z{Score: 77, Member: never(d)}).Err()
		}, map[check.Kind]int{check.OneWayLike: 1}},
		{"like partition of a post that does not exist", func(ctx context.Context, d *damage) error {
			return d.HSet(ctx, in(partitions(d), "like_partitions:"+never(d)), partition(d), "5:0").Err()
		}, map[check.Kind]int{check.LikePartition: 1}},
		{"liker who does not exist", func(ctx context.Context, d *damage) error {
			bucket := int(d.reader) % retwis.Buckets // the same partition
			return d.ZAdd(ctx, likers(d), redis.Z{Score: 77, Member: strconv.Itoa(3*retwis.Buckets + bucket)}).Err()
		}, map[check.Kind]int{check.OneWayLike: 1, check.LikeCount: 1}},
		{"like of a deleted post", func(ctx context.Context, d *damage) error {
			post := d.Post(d.author, "gone")
			d.must(d.Posts.DeletePost(ctx, d.author, post))
			d.Drain()
			d.must(d.ZAdd(ctx, likes(d), redis.Z{Score: 77, Member: post.String()}).Err())
			return d.ZAdd(ctx, in(likes(d), "likers:"+post.String()), redis.Z{Score: 77, Member: d.reader.String()}).Err()
		}, map[check.Kind]int{check.LikeExtra: 1}},
		{"wrong number of likers", func(ctx context.Context, d *damage) error {
			version, _, _ := strings.Cut(d.HGet(ctx, partitions(d), partition(d)).Val(), ":")
			return d.HSet(ctx, partitions(d), partition(d), version+":9").Err()
		}, map[check.Kind]int{check.LikeCount: 1, check.LikeTotal: 1}},
		{"wrong number of likers with a version of the future", func(ctx context.Context, d *damage) error {
			return d.HSet(ctx, partitions(d), partition(d), "9000000000000000:2").Err()
		}, map[check.Kind]int{check.LikeCount: 1, check.LikeTotal: 1}},
		{"wrong number of likes", func(ctx context.Context, d *damage) error {
			return d.HIncrBy(ctx, partitions(d), "total", -4).Err()
		}, map[check.Kind]int{check.LikeTotal: 1}},
		{"missing like partitions", func(ctx context.Context, d *damage) error {
			return d.Del(ctx, partitions(d)).Err()
		}, map[check.Kind]int{check.LikePartition: 1}},
	}
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		whole := newDamage(t, url)
		whole.Like(whole.reader, whole.posts[0])
		whole.Like(whole.reader, whole.posts[1])
		whole.Like(whole.other, whole.posts[1])
		whole.Drain()
		whole.IsSound()
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				d := whole.in(t)
				d.must(tt.corrupt(t.Context(), d))
				found := d.Check(check.Options{})
				if !maps.Equal(found.Counts, tt.want) {
					t.Errorf("found %v, want %v: %v", found.Counts, tt.want, found.Examples)
				}
				d.Check(check.Options{Repair: true})
				d.Drain()
				d.IsSound()
				counts, err := d.Likes.LikeCounts(t.Context(), d.posts[:2])
				likes, err2 := d.Likes.Liked(t.Context(), d.reader, d.posts[:2])
				if err != nil || err2 != nil || counts[0] != 1 || counts[1] != 2 || !likes[0] || !likes[1] {
					t.Errorf("after the repair: likes %v, %v, the reader likes %v, %v", counts, err, likes, err2)
				}
			})
		}
	})
}
