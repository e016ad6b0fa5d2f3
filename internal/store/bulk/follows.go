package bulk

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Bounds of one call, so that it does not run for long.
const (
	edgesPerCall  = 200
	countsPerCall = 500
)

// FollowAll makes readers follow authors like [store.Follows.Follow], and returns the number of new follows. The next
// read, or [store.Timelines.Rebuild], rebuilds the home of a reader with new follows. It skips authors who do not
// exist.
//
// If it is interrupted, fan-out still delivers posts to the new followers. Follower counts may be outdated until it is
// repeated.
func (s *Importer) FollowAll(ctx context.Context, all []retwis.Followings) (added int, err error) {
	err = s.db.Durably(ctx, func() error {
		added, err = s.followAll(ctx, all)
		return err
	})
	return added, err
}

func (s *Importer) followAll(ctx context.Context, all []retwis.Followings) (int, error) {
	partitions, err := s.addAuthorPartitions(ctx, all)
	if err != nil {
		return 0, fmt.Errorf("import follows: %w", err)
	}
	var calls []rdb.Call
	for _, f := range all {
		authors := slices.DeleteFunc(slices.Clone(f.Authors), func(author retwis.UserID) bool {
			return partitions[author] == nil || author == f.Reader
		})
		for chunk := range slices.Chunk(authors, edgesPerCall) {
			calls = append(calls, s.followAllCall(f.Reader, chunk))
		}
	}
	added := 0
	var limit error
	for _, reply := range s.doAll(ctx, calls) {
		answer, err := reply.Slice()
		if err != nil || len(answer) == 0 {
			return added, fmt.Errorf("import follows: reply %v: %w", answer, err)
		}
		switch answer[0] {
		case "ok":
			n, _ := answer[1].(int64)
			added += int(n)
		case "no_user": // the reader no longer exists
		case "limit":
			limit = retwis.Errorf(retwis.CodeLimitReached,
				"a user would follow more than %d users: import fewer follows, or raise the follow limit", s.options.FollowLimit)
		default:
			return added, fmt.Errorf("import follows: reply %v", answer)
		}
	}
	deleted, err := s.countAll(ctx, partitions)
	if err != nil {
		return added, fmt.Errorf("import follows: %w", err)
	}
	if err := s.removeOrphanEdges(ctx, all, deleted); err != nil {
		return added, err
	}
	return added, limit
}

// addAuthorPartitions adds the partitions of readers to the follower partitions of the authors, and returns the
// partitions of each author who exists.
func (s *Importer) addAuthorPartitions(ctx context.Context, all []retwis.Followings) (map[retwis.UserID]map[int]bool, error) {
	partitions := map[retwis.UserID]map[int]bool{}
	var authors []retwis.UserID
	for _, f := range all {
		number := s.db.OfUser(f.Reader).Number
		for _, author := range f.Authors {
			if partitions[author] == nil {
				partitions[author] = map[int]bool{}
				authors = append(authors, author)
			}
			partitions[author][number] = true
		}
	}
	calls := make([]rdb.Call, len(authors))
	for i, author := range authors {
		home := s.db.OfUser(author)
		calls[i] = rdb.Call{Script: script.AddAuthorPartitions, Keys: []string{home.User(author).Account(), home.User(author).FollowerPartitions()}}
		for number := range partitions[author] {
			calls[i].Args = append(calls[i].Args, strconv.Itoa(number))
		}
	}
	for i, reply := range s.doAll(ctx, calls) {
		exists, err := reply.Bool()
		if err != nil {
			return nil, fmt.Errorf("add follower partitions of %s: %w", authors[i], err)
		}
		if !exists {
			delete(partitions, authors[i])
		}
	}
	return partitions, nil
}

func (s *Importer) followAllCall(reader retwis.UserID, authors []retwis.UserID) rdb.Call {
	p := s.db.OfUser(reader)
	c := rdb.Call{
		Script: script.FollowAll,
		Keys:   []string{p.User(reader).Account(), p.User(reader).Following(), p.Clock(), p.User(reader).Home(), p.Online(), p.OnlineNodes()},
		Args:   []any{reader.String(), s.options.FollowLimit, s.db.Publish, p.Prefix(rdb.LiveChannels)},
	}
	for _, author := range authors {
		c.Keys = append(c.Keys, p.User(author).Followers())
		c.Args = append(c.Args, author.String())
	}
	return c
}

// countAll counts the followers of authors in partitions, stores the counts, and returns the authors whose accounts are
// no longer active.
func (s *Importer) countAll(ctx context.Context, partitions map[retwis.UserID]map[int]bool) (deleted map[retwis.UserID]bool, err error) {
	in := make([][]retwis.UserID, len(s.db.Partitions()))
	for author, numbers := range partitions {
		for number := range numbers {
			in[number] = append(in[number], author)
		}
	}
	var counts []rdb.Call
	var counted [][]retwis.UserID
	var where []int
	for number, authors := range in {
		p := s.db.Partition(number)
		for chunk := range slices.Chunk(authors, countsPerCall) {
			c := rdb.Call{Script: script.CountFollowers, Keys: []string{p.Clock()}}
			for _, author := range chunk {
				c.Keys = append(c.Keys, p.User(author).Followers())
			}
			counts, counted, where = append(counts, c), append(counted, chunk), append(where, number)
		}
	}
	args := map[retwis.UserID][]any{}
	for n, reply := range s.doAll(ctx, counts) {
		answer, err := reply.Slice()
		if err != nil || len(answer) != 1+len(counted[n]) {
			return nil, fmt.Errorf("count followers: %d answers: %w", len(answer), err)
		}
		for i, author := range counted[n] {
			args[author] = append(args[author], where[n], answer[0], answer[1+i])
		}
	}
	var sets []rdb.Call
	var authors []retwis.UserID
	for author, args := range args {
		home := s.db.OfUser(author)
		sets = append(sets, rdb.Call{Script: script.SetFollowerCounts, Keys: []string{home.User(author).Account(), home.User(author).FollowerPartitions()}, Args: args})
		authors = append(authors, author)
	}
	deleted = map[retwis.UserID]bool{}
	for i, reply := range s.doAll(ctx, sets) {
		exists, err := reply.Bool()
		if err != nil {
			return nil, fmt.Errorf("store the followers of %s: %w", authors[i], err)
		}
		if !exists {
			deleted[authors[i]] = true
		}
	}
	return deleted, nil
}

// removeOrphanEdges removes the follows of authors whose accounts were being deleted.
func (s *Importer) removeOrphanEdges(ctx context.Context, all []retwis.Followings, deleted map[retwis.UserID]bool) error {
	if len(deleted) == 0 {
		return nil
	}
	for _, f := range all {
		for _, author := range f.Authors {
			if !deleted[author] {
				continue
			}
			if _, err := s.tasks.RemoveOrphanEdge(ctx, retwis.Home(f.Reader), author); err != nil {
				return err
			}
		}
	}
	return nil
}
