package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspectLikes compares the likes of a post with the stored numbers, and with the likes of the users. It ignores partitions whose
// worker is about to count the likers.
func (i inspector) inspectLikes(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	r, err := i.db.PostLikes(ctx, s.liked)
	if err != nil {
		return result, err
	}
	add := func(kind Kind, partition int, witness, format string, args ...any) {
		result.add(Finding{
			Kind: kind, Post: s.liked, detail: s.liked.String(), partition: partition, transient: true, witness: witness,
			Text: fmt.Sprintf("post %s: ", s.liked) + fmt.Sprintf(format, args...),
		})
	}
	for partition, likers := range r.LikersIn {
		_, known := r.Partitions[partition]
		switch {
		case r.Changed[partition]:
		case !r.Exists:
			add(LikeExtra, partition, "", "%d users in partition %d like the post, which does not exist", likers, partition)
		case !known:
			add(LikePartition, partition, "", "the like partitions lack partition %d, which holds %d likers", partition, likers)
		}
	}
	for partition, stored := range r.Partitions {
		likers := r.LikersIn[partition]
		switch {
		case r.Changed[partition]:
		case !r.Exists && likers == 0:
			add(LikePartition, partition, "", "the like partitions hold partition %d, but the post does not exist", partition)
		case r.Exists && stored.Count != likers:
			add(LikeCount, partition, fmt.Sprint(stored.Version, stored.Count, likers),
				"partition %d holds %d likers, the stored number is %d", partition, likers, stored.Count)
		}
	}
	if r.Exists && r.Total.Stored != r.Total.Actual {
		add(LikeTotal, 0, fmt.Sprint(r.Total), "the partitions have %d likers, the stored number of likes is %d", r.Total.Actual, r.Total.Stored)
	}
	half, err := i.db.LikersOf(ctx, s.liked, slices.Sorted(maps.Keys(r.LikersIn)))
	result.addLikes(half)
	return result, err
}

// inspectOwnLikes finds likes of a user that the likers of the posts lack.
func (i inspector) inspectOwnLikes(ctx context.Context, user retwis.UserID, result *inspection) error {
	half, err := i.db.LikesOf(ctx, user)
	result.addLikes(half)
	return err
}

func (result *inspection) addLikes(half []record.Like) {
	for _, like := range half {
		difference := "the two directions have different times"
		switch {
		case like.Liked == 0:
			difference = "the likes of the user lack the post"
		case like.Liker == 0:
			difference = "the likers of the post lack the user"
		}
		result.add(Finding{
			Kind: OneWayLike, User: like.User, Post: like.Post, detail: like.Post.String(), transient: true, witness: fmt.Sprint(like.Liked, like.Liker),
			Text: fmt.Sprintf("like of user %s and post %s: %s", like.User, like.Post, difference),
		})
	}
}

func (c *checker) repairLikes(ctx context.Context, found []Finding) error {
	err := c.each(ctx, found, func(f Finding) error { return c.db.RepairLike(ctx, f.User, f.Post) }, OneWayLike)
	if err != nil {
		return err
	}
	return c.each(ctx, found, func(f Finding) error {
		return c.db.RepairLikeCount(ctx, f.Post, f.partition)
	}, LikeExtra, LikePartition, LikeCount, LikeTotal)
}
