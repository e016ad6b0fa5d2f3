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

// How much one call does at most, which bounds how long it runs.
const (
	edgesPerCall  = 200
	countsPerCall = 500
)

// FollowAll makes readers follow authors, like [Store.Follow], and returns how many follows
// are new. A reader's home is gathered anew by its next reader, or by [Store.Rebuild], where
// the reader follows somebody new. Authors that there are not are passed over.
//
// Where it breaks off the posts of authors reach their new followers all the same, but the
// counts of followers may lag until it is repeated.
func (s *Importer) FollowAll(ctx context.Context, all []retwis.Followings) (added int, err error) {
	err = s.db.Durably(ctx, func() error {
		added, err = s.followAll(ctx, all)
		return err
	})
	return added, err
}

func (s *Importer) followAll(ctx context.Context, all []retwis.Followings) (int, error) {
	places, err := s.addAuthorPartitions(ctx, all)
	if err != nil {
		return 0, fmt.Errorf("follow many: %w", err)
	}
	var calls []rdb.Call
	for _, f := range all {
		authors := slices.DeleteFunc(slices.Clone(f.Authors), func(author retwis.UserID) bool {
			return places[author] == nil || author == f.Reader
		})
		for chunk := range slices.Chunk(authors, edgesPerCall) {
			calls = append(calls, s.followAllCall(f.Reader, chunk))
		}
	}
	added := 0
	var limit error
	for _, reply := range s.db.DoAll(ctx, calls) {
		answer, err := reply.Slice()
		if err != nil || len(answer) == 0 {
			return added, fmt.Errorf("follow many: reply %v: %w", answer, err)
		}
		switch answer[0] {
		case "ok":
			n, _ := answer[1].(int64)
			added += int(n)
		case "no_user": // nobody is left to follow anybody
		case "limit":
			limit = retwis.Errorf(retwis.CodeLimitReached,
				"somebody would follow more than %d people: choose fewer follows, or a greater follow limit", s.options.FollowLimit)
		default:
			return added, fmt.Errorf("follow many: reply %v", answer)
		}
	}
	left, err := s.countAll(ctx, places)
	if err != nil {
		return added, fmt.Errorf("follow many: %w", err)
	}
	if err := s.removeOrphanEdges(ctx, all, left); err != nil {
		return added, err
	}
	return added, limit
}

// addAuthorPartitions enters the partitions of readers into the reaches of those they are to
// follow, and returns the partitions of each author that there is.
func (s *Importer) addAuthorPartitions(ctx context.Context, all []retwis.Followings) (map[retwis.UserID]map[int]bool, error) {
	places := map[retwis.UserID]map[int]bool{}
	var authors []retwis.UserID
	for _, f := range all {
		number := s.db.OfUser(f.Reader).Number
		for _, author := range f.Authors {
			if places[author] == nil {
				places[author] = map[int]bool{}
				authors = append(authors, author)
			}
			places[author][number] = true
		}
	}
	calls := make([]rdb.Call, len(authors))
	for i, author := range authors {
		home := s.db.OfUser(author)
		calls[i] = rdb.Call{Script: script.AddAuthorPartitions, Keys: []string{home.User(author).Account(), home.User(author).FollowerPartitions()}}
		for number := range places[author] {
			calls[i].Args = append(calls[i].Args, strconv.Itoa(number))
		}
	}
	for i, reply := range s.db.DoAll(ctx, calls) {
		there, err := reply.Bool()
		if err != nil {
			return nil, fmt.Errorf("enter the reach of %s: %w", authors[i], err)
		}
		if !there {
			delete(places, authors[i])
		}
	}
	return places, nil
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

// countAll counts the followers of authors in partitions, stores the counts, and returns
// the authors who have left meanwhile.
func (s *Importer) countAll(ctx context.Context, places map[retwis.UserID]map[int]bool) (left map[retwis.UserID]bool, err error) {
	in := make([][]retwis.UserID, len(s.db.Partitions()))
	for author, numbers := range places {
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
	for n, reply := range s.db.DoAll(ctx, counts) {
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
	left = map[retwis.UserID]bool{}
	for i, reply := range s.db.DoAll(ctx, sets) {
		there, err := reply.Bool()
		if err != nil {
			return nil, fmt.Errorf("store the followers of %s: %w", authors[i], err)
		}
		if !there {
			left[authors[i]] = true
		}
	}
	return left, nil
}

// removeOrphanEdges ends the follows of authors who were leaving when they began.
func (s *Importer) removeOrphanEdges(ctx context.Context, all []retwis.Followings, left map[retwis.UserID]bool) error {
	if len(left) == 0 {
		return nil
	}
	for _, f := range all {
		for _, author := range f.Authors {
			if !left[author] {
				continue
			}
			if _, err := s.tasks.RemoveOrphanEdge(ctx, retwis.Home(f.Reader), author); err != nil {
				return err
			}
		}
	}
	return nil
}
