package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// SearchUsers finds users whose names begin with a prefix, without regard to case: the
// first ones in the order of their names. A name that is just being registered counts
// towards the total, and is found once that is done. The prefix is not empty and made of
// characters of names only.
func (s *Store) SearchUsers(ctx context.Context, prefix string, count int) (retwis.FollowPage, error) {
	names, total, err := s.namesFrom(ctx, retwis.FoldUsername(prefix), count+1)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("search users by %q: %w", prefix, err)
	}
	more := len(names) > count
	names = names[:min(count, len(names))]
	ids := make([]retwis.UserID, len(names))
	for i, name := range names {
		_, id, _ := strings.Cut(name, " ")
		if ids[i], err = retwis.ParseUserID(id); err != nil {
			return retwis.FollowPage{}, fmt.Errorf("search users by %q: %w", prefix, err)
		}
	}
	users, err := s.Users(ctx, ids)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("search users by %q: %w", prefix, err)
	}
	page := retwis.FollowPage{TotalCount: total, HasNextPage: more}
	for _, user := range users {
		if user != nil && !user.Leaving {
			at := retwis.UserSetPosition{Set: retwis.FoundUsers(), User: user.ID}
			page.Follows = append(page.Follows, retwis.Follow{Cursor: at.Cursor(), User: user})
		}
	}
	return page, nil
}

// namesFrom returns the first names with a prefix, with the ids of their users, and how
// many there are. A name lies in the partition of its hash, so all partitions are asked.
func (s *Store) namesFrom(ctx context.Context, prefix string, count int) ([]string, int, error) {
	with := redis.ZRangeBy{Min: "[" + prefix, Max: "(" + prefix + "\xff", Count: int64(count)}
	pipe := s.client.Pipeline()
	ranges := make([]*redis.StringSliceCmd, len(s.partitions))
	counts := make([]*redis.IntCmd, len(s.partitions))
	for i, p := range s.partitions {
		ranges[i] = pipe.ZRangeByLex(ctx, p.names(), &with)
		counts[i] = pipe.ZLexCount(ctx, p.names(), with.Min, with.Max)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	var names []string
	total := 0
	for i := range s.partitions {
		some, err := ranges[i].Result()
		if err != nil {
			return nil, 0, err
		}
		n, err := counts[i].Result()
		if err != nil {
			return nil, 0, err
		}
		names, total = append(names, some...), total+int(n)
	}
	slices.Sort(names) // the space behind a name sorts before all characters of names
	return names[:min(count, len(names))], total, nil
}
