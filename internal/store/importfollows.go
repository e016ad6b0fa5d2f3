package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"retwis/internal/retwis"
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
func (s *Store) FollowAll(ctx context.Context, all []retwis.Followings) (added int, err error) {
	err = s.doInBulk(ctx, func() error {
		added, err = s.followAll(ctx, all)
		return err
	})
	return added, err
}

func (s *Store) followAll(ctx context.Context, all []retwis.Followings) (int, error) {
	places, err := s.enterReaches(ctx, all)
	if err != nil {
		return 0, fmt.Errorf("follow many: %w", err)
	}
	var calls []call
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
	for _, reply := range s.doAll(ctx, calls) {
		answer, err := reply.Slice()
		if err != nil || len(answer) == 0 {
			return added, fmt.Errorf("follow many: reply %v: %w", answer, err)
		}
		switch answer[0] {
		case "ok":
			n, _ := answer[1].(int64)
			added += int(n)
		case "gone": // nobody is left to follow anybody
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
	if err := s.endLateEdges(ctx, all, left); err != nil {
		return added, err
	}
	return added, limit
}

// enterReaches enters the partitions of readers into the reaches of those they are to
// follow, and returns the partitions of each author that there is.
func (s *Store) enterReaches(ctx context.Context, all []retwis.Followings) (map[retwis.UserID]map[int]bool, error) {
	places := map[retwis.UserID]map[int]bool{}
	var authors []retwis.UserID
	for _, f := range all {
		number := s.of(f.Reader).number
		for _, author := range f.Authors {
			if places[author] == nil {
				places[author] = map[int]bool{}
				authors = append(authors, author)
			}
			places[author][number] = true
		}
	}
	calls := make([]call, len(authors))
	for i, author := range authors {
		home := s.of(author)
		calls[i] = call{script: s.scripts.enterReach, keys: []string{home.user(author), home.reach(author)}}
		for number := range places[author] {
			calls[i].args = append(calls[i].args, strconv.Itoa(number))
		}
	}
	for i, reply := range s.doAll(ctx, calls) {
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

func (s *Store) followAllCall(reader retwis.UserID, authors []retwis.UserID) call {
	p := s.of(reader)
	c := call{
		s.scripts.followAll,
		[]string{p.user(reader), p.following(reader), p.clock(), p.home(reader), p.online(), p.onlineNodes()},
		[]any{reader.String(), s.options.FollowLimit, s.publish, p.livePrefix()},
	}
	for _, author := range authors {
		c.keys = append(c.keys, p.followers(author))
		c.args = append(c.args, author.String())
	}
	return c
}

// countAll counts the followers of authors in partitions, stores the counts, and returns
// the authors who have left meanwhile.
func (s *Store) countAll(ctx context.Context, places map[retwis.UserID]map[int]bool) (left map[retwis.UserID]bool, err error) {
	in := make([][]retwis.UserID, len(s.partitions))
	for author, numbers := range places {
		for number := range numbers {
			in[number] = append(in[number], author)
		}
	}
	var counts []call
	var counted [][]retwis.UserID
	var where []int
	for number, authors := range in {
		p := s.partitions[number]
		for chunk := range slices.Chunk(authors, countsPerCall) {
			c := call{script: s.scripts.countFollowers, keys: []string{p.clock()}}
			for _, author := range chunk {
				c.keys = append(c.keys, p.followers(author))
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
	var sets []call
	var authors []retwis.UserID
	for author, args := range args {
		home := s.of(author)
		sets = append(sets, call{s.scripts.setReach, []string{home.user(author), home.reach(author)}, args})
		authors = append(authors, author)
	}
	left = map[retwis.UserID]bool{}
	for i, reply := range s.doAll(ctx, sets) {
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

// endLateEdges ends the follows of authors who were leaving when they began.
func (s *Store) endLateEdges(ctx context.Context, all []retwis.Followings, left map[retwis.UserID]bool) error {
	if len(left) == 0 {
		return nil
	}
	for _, f := range all {
		for _, author := range f.Authors {
			if !left[author] {
				continue
			}
			if _, err := s.EndLateEdge(ctx, retwis.Home(f.Reader), author); err != nil {
				return err
			}
		}
	}
	return nil
}
