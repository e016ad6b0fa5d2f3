package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// markLarge marks the large authors. An author becomes large above the push threshold, and remains large above nine tenths of it: becoming
// small takes a merge into the home of each follower. That the author was large is seen by the posts that wait.
func (s *Outbox) markLarge(ctx context.Context, authors []retwis.UserID, all []outbox.AuthorPartitions) error {
	pipe := s.db.Client.Pipeline()
	waiting := map[int]*redis.IntCmd{} // of the authors between the two
	for i, of := range all {
		followers := 0
		for _, count := range of.Followers {
			followers += count
		}
		all[i].Large = followers > s.options.PullAbove
		if !all[i].Large && 10*followers > 9*s.options.PullAbove {
			waiting[i] = pipe.Exists(ctx, s.pulledOf(authors[i], of.Followers))
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("read whether authors are large: %w", err)
	}
	for i, list := range waiting {
		all[i].Large = list.Val() > 0
	}
	return nil
}

// pulledOf returns the key of the pulled posts of an author in the partition with most followers.
func (s *Outbox) pulledOf(author retwis.UserID, followers map[int]int) string {
	most := slices.MaxFunc(slices.Collect(maps.Keys(followers)), func(a, b int) int {
		return cmp.Or(cmp.Compare(followers[a], followers[b]), cmp.Compare(a, b))
	})
	return s.db.Partitions()[most].User(author).Pulled()
}
