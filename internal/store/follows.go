package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"retwis/internal/outbox"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Follows manages the edges between readers and authors, and pages of them.
type Follows struct {
	core
	accounts *Accounts
}

// Follow makes a reader follow an author: it writes both directions atomically and queues the back-fill of the
// reader's home. A repeat has no effect. It returns [retwis.ErrSelfFollow], [retwis.ErrUserNotFound],
// LIMIT_REACHED, or [retwis.ErrUnauthenticated] if there is no such reader.
func (s *Follows) Follow(ctx context.Context, reader, author retwis.UserID) error {
	return s.follow(ctx, reader, author, "")
}

// FollowShowing is [Follows.Follow], and sets whether the home of the reader shows the reposts of the author, also if the reader
// follows the author already. A change resets the subscriptions of the reader.
func (s *Follows) FollowShowing(ctx context.Context, reader, author retwis.UserID, reposts bool) error {
	if reposts {
		return s.follow(ctx, reader, author, "1")
	}
	return s.follow(ctx, reader, author, "0")
}

func (s *Follows) follow(ctx context.Context, reader, author retwis.UserID, reposts string) error {
	if reader == author {
		return retwis.ErrSelfFollow
	}
	p := s.db.OfUser(reader)
	exists, err := s.AddAuthorPartition(ctx, author, "", p)
	if err != nil {
		return fmt.Errorf("%s follows %s: %w", reader, author, err)
	}
	if !exists {
		return retwis.ErrUserNotFound
	}
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.Follow,
		Keys: []string{
			p.User(reader).Account(), p.User(reader).Following(), p.User(author).Followers(), p.Clock(), p.Outbox(),
			p.User(reader).HiddenReposters(), p.Online(), p.OnlineNodes(),
		},
		Args: []any{
			reader.String(), author.String(), s.options.FollowLimit, p.Tag + ":", reposts, s.db.Publish, p.Prefix(rdb.LiveChannels),
			s.options.OutboxLimit, rdb.OriginOf(ctx),
		},
	})
	if err != nil {
		return fmt.Errorf("%s follows %s: %w", reader, author, err)
	}
	answer, err := reply.Slice()
	if err != nil || len(answer) == 0 {
		return fmt.Errorf("%s follows %s: reply %v: %w", reader, author, answer, err)
	}
	switch answer[0] {
	case "ok":
		cost.Owe(ctx, cost.OfBackfill(s.options.HomeCap))
		return s.SetFollowerCount(ctx, author, p, answer[1:])
	case "no_user":
		return retwis.ErrUnauthenticated
	case "limit":
		return retwis.FieldError(retwis.CodeLimitReached, "userId",
			"you follow %d users, which is the maximum: unfollow someone first", s.options.FollowLimit)
	case "full":
		return retwis.ErrOutboxFull
	default:
		return fmt.Errorf("%s follows %s: reply %v", reader, author, answer)
	}
}

// Unfollow removes both directions of a follow atomically and queues the purge of the reader's home. Afterwards
// fan-out delivers no post of the author there. A repeat has no effect. It returns [retwis.ErrUserNotFound] if
// there is no such author.
func (s *Follows) Unfollow(ctx context.Context, reader, author retwis.UserID) error {
	p, home := s.db.OfUser(reader), s.db.OfUser(author)
	state, err := s.db.Client.HMGet(ctx, home.User(author).Account(), "state").Result()
	if err != nil {
		return fmt.Errorf("%s unfollows %s: %w", reader, author, err)
	}
	if state[0] != "active" {
		return retwis.ErrUserNotFound
	}
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.Unfollow,
		Keys:   []string{p.User(reader).Account(), p.User(reader).Following(), p.User(author).Followers(), p.Clock(), p.Outbox()},
		Args:   []any{reader.String(), author.String(), p.Tag + ":", rdb.OriginOf(ctx)},
	})
	if err != nil {
		return fmt.Errorf("%s unfollows %s: %w", reader, author, err)
	}
	answer, err := reply.Slice()
	if err != nil || len(answer) != 3 {
		return fmt.Errorf("%s unfollows %s: reply %v: %w", reader, author, answer, err)
	}
	cost.Owe(ctx, cost.OfBackfill(s.options.HomeCap)) // a purge reads as many entries
	return s.SetFollowerCount(ctx, author, p, answer[1:])
}

// ListPartition prefixes the follower partitions of an author that have lists containing the author.
const ListPartition = "l"

// AddAuthorPartition adds a partition to an author's follower partitions and reports whether the author exists. Call
// it before the edge is written. Otherwise posts could miss the new follower.
func (s *Follows) AddAuthorPartition(ctx context.Context, author retwis.UserID, kind string, of rdb.Partition) (bool, error) {
	home := s.db.OfUser(author)
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.AddAuthorPartitions, Keys: []string{home.User(author).Account(), home.User(author).FollowerPartitions()}, Args: []any{kind + strconv.Itoa(of.Number)},
	})
	if err != nil {
		return false, err
	}
	return reply.Bool()
}

// SetFollowerCount stores the number of an author's followers in a partition, unless a newer version is stored.
func (s *Follows) SetFollowerCount(ctx context.Context, author retwis.UserID, of rdb.Partition, versionAndCount []any) error {
	c := s.FollowerCountCall(author, of, versionAndCount)
	if err := s.db.Do(ctx, c).Err(); err != nil {
		return fmt.Errorf("count the followers of %s: %w", author, err)
	}
	return nil
}

// FollowerCountCall returns the call of [Follows.SetFollowerCount].
func (s *Follows) FollowerCountCall(author retwis.UserID, of rdb.Partition, versionAndCount []any) rdb.Call {
	home := s.db.OfUser(author)
	args := append([]any{of.Number}, versionAndCount...)
	return rdb.Call{Script: script.SetFollowerCounts, Keys: []string{home.User(author).Account(), home.User(author).FollowerPartitions()}, Args: args}
}

// Follows reports for each author whether a reader follows the author.
func (s *Follows) Follows(ctx context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error) {
	following := s.db.OfUser(reader).User(reader).Following()
	return s.edges(ctx, len(authors), func(pipe redis.Pipeliner, i int) *redis.FloatCmd {
		return pipe.ZScore(ctx, following, authors[i].String())
	})
}

// FollowedBy reports for each user whether the user follows the reader.
func (s *Follows) FollowedBy(ctx context.Context, reader retwis.UserID, others []retwis.UserID) ([]bool, error) {
	return s.edges(ctx, len(others), func(pipe redis.Pipeliner, i int) *redis.FloatCmd {
		return pipe.ZScore(ctx, s.db.OfUser(others[i]).User(others[i]).Following(), reader.String())
	})
}

// HidesReposts reports for each author whether a reader follows the author without seeing their reposts.
func (s *Follows) HidesReposts(ctx context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error) {
	if len(authors) == 0 {
		return nil, nil
	}
	hidden, err := s.db.Client.SMIsMember(ctx, s.db.OfUser(reader).User(reader).HiddenReposters(), textArgs(authors)...).Result()
	if err != nil {
		return nil, fmt.Errorf("look up whose reposts %s has hidden: %w", reader, err)
	}
	if !slices.Contains(hidden, true) {
		return hidden, nil
	}
	follows, err := s.Follows(ctx, reader, authors) // a purge removes what an unfollow leaves
	if err != nil {
		return nil, err
	}
	for i := range hidden {
		hidden[i] = hidden[i] && follows[i]
	}
	return hidden, nil
}

// edges reports for each of n scores, which it reads in one round trip, whether it exists.
func (s *core) edges(ctx context.Context, n int, score func(pipe redis.Pipeliner, i int) *redis.FloatCmd) ([]bool, error) {
	if n == 0 {
		return nil, nil
	}
	exist := make([]bool, n)
	err := s.db.ReadCurrent(ctx, func() error {
		pipe, scores := s.db.Client.Pipeline(), make([]*redis.FloatCmd, n)
		for i := range scores {
			scores[i] = score(pipe, i)
		}
		_, _ = pipe.Exec(ctx) // every score holds its own error
		for i, score := range scores {
			err := score.Err()
			if err != nil && !errors.Is(err, redis.Nil) {
				return fmt.Errorf("look up follows: %w", err)
			}
			exist[i] = err == nil
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return exist, nil
}

// followed returns the sources of a home or a list, and those whose reposts it does not show.
func (s *core) followed(ctx context.Context, id retwis.TimelineID) (authors, hidden []retwis.UserID, err error) {
	keys := s.db.OfTimeline(id).Timeline(id)
	pipe := s.db.Client.Pipeline()
	sources, hides := pipe.ZRange(ctx, keys.Sources(), 0, -1), pipe.SMembers(ctx, keys.HiddenReposters())
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, nil, fmt.Errorf("read the sources of timeline %s: %w", id, err)
	}
	if authors, err = rdb.UserMembers(sources.Val()); err == nil {
		hidden, err = rdb.UserMembers(hides.Val())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the sources of timeline %s: %w", id, err)
	}
	return authors, hidden, nil
}

// AuthorPartitions returns the partitions that the posts of authors go to, with the stored follower counts. It does not tell who is large.
func (s *Follows) AuthorPartitions(ctx context.Context, authors []retwis.UserID) ([]outbox.AuthorPartitions, error) {
	pipe := s.db.Client.Pipeline()
	rows := make([]*redis.MapStringStringCmd, len(authors))
	for i, author := range authors {
		rows[i] = pipe.HGetAll(ctx, s.db.OfUser(author).User(author).FollowerPartitions())
	}
	_, _ = pipe.Exec(ctx) // every row holds its own error
	all := make([]outbox.AuthorPartitions, len(authors))
	for i, row := range rows {
		fields, err := row.Result()
		if err != nil {
			return nil, fmt.Errorf("read the follower partitions of %s: %w", authors[i], err)
		}
		all[i] = outbox.AuthorPartitions{Followers: make(map[int]int, len(fields)), Lists: map[int]bool{}}
		for field, value := range fields {
			var number, count int
			field, lists := strings.CutPrefix(field, ListPartition)
			var version int64
			if _, err := fmt.Sscanf(field+" "+value, "%d %d:%d", &number, &version, &count); err != nil {
				return nil, fmt.Errorf("read the follower partitions of %s: field %q is %q: %w", authors[i], field, value, err)
			}
			if number < 0 || number >= len(s.db.Partitions()) {
				return nil, fmt.Errorf("read the follower partitions of %s: no partition %d", authors[i], number)
			}
			if lists {
				all[i].Lists[number] = true
			} else {
				all[i].Followers[number] = count
			}
		}
	}
	return all, nil
}
