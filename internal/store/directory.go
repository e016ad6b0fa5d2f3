package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// NewestUsers returns one page of the newest users, newest first. Each partition keeps its newest users, and the
// total counts them all. A cursor of another connection is [retwis.ErrBadCursor].
func (s *Accounts) NewestUsers(ctx context.Context, page retwis.Page) (retwis.FollowPage, error) {
	w, err := newSetWalk(retwis.NewestUsers(), page)
	if err != nil {
		return retwis.FollowPage{}, err
	}
	sets := make([]string, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		sets[i] = p.NewestUsers()
	}
	found, total, err := s.nearest(ctx, sets, w.from, w.older, w.count)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("newest users: %w", err)
	}
	users, err := w.read(ctx, s, found, total)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("newest users: %w", err)
	}
	for i := range users.Follows {
		users.Follows[i].FollowedAt = time.Time{} // there is no follow
	}
	return users, nil
}

// SearchUsers returns one page of the users whose names begin with a prefix, in any case, ordered by name. The total
// includes pending registrations. The prefix must not be empty, and must consist of characters of names. A cursor
// that is not of a name with the prefix is [retwis.ErrBadCursor].
func (s *Accounts) SearchUsers(ctx context.Context, prefix string, page retwis.Page) (retwis.FollowPage, error) {
	search := nameSearch{prefix: retwis.FoldUsername(prefix), backward: page.Last > 0}
	if cursor := page.After + page.Before; cursor != "" { // one of them is empty
		var err error
		if search.from, err = cursor.Name(search.prefix); err != nil {
			return retwis.FollowPage{}, err
		}
	}
	found, err := s.searchUsers(ctx, search, page.First+page.Last)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("search users by %q: %w", prefix, err)
	}
	return found, nil
}

// searchUsers repeats the search until the page is full, because a few names have no user.
func (s *Accounts) searchUsers(ctx context.Context, search nameSearch, count int) (retwis.FollowPage, error) {
	var page retwis.FollowPage
	ahead, behind := &page.HasNextPage, &page.HasPreviousPage
	if search.backward {
		ahead, behind = behind, ahead
	}
	for first := true; ; first = false {
		names, err := s.names(ctx, search, count-len(page.Follows))
		if err != nil {
			return page, err
		}
		if first {
			page.TotalCount, *behind = names.total, names.ahead < names.total
		}
		*ahead = len(names.ids) > 0 && names.ahead > len(names.ids)
		users, err := s.Users(ctx, names.ids)
		if err != nil {
			return page, err
		}
		for _, user := range users {
			if user != nil && !user.BeingDeleted {
				page.Follows = append(page.Follows, retwis.Follow{Cursor: retwis.NameCursor(user.Username), User: user})
			}
		}
		if !*ahead || len(page.Follows) == count {
			break
		}
		search.from = names.last
	}
	if search.backward {
		slices.Reverse(page.Follows)
	}
	return page, nil
}

// nameSearch selects folded names.
type nameSearch struct {
	prefix   string
	from     string // the name to continue after; empty for an end
	backward bool   // from the last name to the first
}

// foundNames is the result of a search.
type foundNames struct {
	ids   []retwis.UserID // the users, in the order read
	last  string          // the last name read
	ahead int             // number of names after from, including these
	total int             // number of names with the prefix
}

// Redis keeps a sorted set of names packed if it has at most packedNames, with the settings of docs/operations.md. It then compares all
// names before the one that it looks for. A row is charged for namesPerRow of them.
const (
	packedNames = 1024
	namesPerRow = 12
)

// names returns the nearest names. It reads all partitions, because names are partitioned by hash.
func (s *Accounts) names(ctx context.Context, search nameSearch, count int) (foundNames, error) {
	// A space follows each name. It sorts before all characters of names.
	first, end := search.prefix, search.prefix+"\xff"
	ahead := redis.ZRangeBy{Min: "[" + first, Max: "(" + end, Count: int64(count)}
	from := first // where the search begins
	switch {
	case search.from != "" && search.backward:
		from = search.from + " "
		ahead.Max = "(" + from
	case search.from != "":
		from = search.from + "!"
		ahead.Min = "(" + from
	case search.backward:
		from = end
	}
	pipe := s.db.Client.Pipeline()
	read := pipe.ZRangeByLex
	if search.backward {
		read = pipe.ZRevRangeByLex
	}
	type partition struct {
		entries                       *redis.StringSliceCmd
		all                           *redis.IntCmd
		beforeFirst, beforeEnd, start *redis.IntCmd // names before these texts
	}
	partitions := make([]partition, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		before := func(text string) *redis.IntCmd { return pipe.ZLexCount(ctx, p.Names(), "-", "("+text) }
		part := partition{entries: read(ctx, p.Names(), &ahead), all: pipe.ZCard(ctx, p.Names()), beforeFirst: before(first), beforeEnd: before(end)}
		switch from {
		case first:
			part.start = part.beforeFirst
		case end:
			part.start = part.beforeEnd
		default:
			part.start = before(from)
		}
		partitions[i] = part
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return foundNames{}, err
	}
	var found foundNames
	var names []string
	compared := 0
	for _, p := range partitions {
		names = append(names, p.entries.Val()...)
		all, first, end, start := int(p.all.Val()), int(p.beforeFirst.Val()), int(p.beforeEnd.Val()), int(p.start.Val())
		found.total += end - first
		skipped := start
		if search.backward {
			found.ahead += start - first
			skipped = all - start
		} else {
			found.ahead += end - start
		}
		if search.from != "" {
			skipped += start // it has a count of its own
		}
		if all <= packedNames {
			compared += first + end + skipped
		}
	}
	if err := cost.Walk(ctx, compared/namesPerRow); err != nil {
		return foundNames{}, err
	}
	slices.Sort(names)
	if search.backward {
		slices.Reverse(names)
	}
	for _, entry := range names[:min(count, len(names))] {
		name, id, _ := strings.Cut(entry, " ")
		user, err := retwis.ParseUserID(id)
		if err != nil {
			return foundNames{}, err
		}
		found.ids, found.last = append(found.ids, user), name
	}
	return found, nil
}

// Bounds of a people search in one partition.
const (
	foundPerPartition   = 50
	entriesPerPartition = 500 // read to find users with several words
	entriesPerSearch    = 125 // of them, by one script: it compares names for up to 0.6 ms
)

const (
	rowsPerRank = 20 // what it counts for to compare the words of a user with those of a query

	readAtOnce   = 100 // users of a people search: their texts may take 8 KB each
	rankedAtOnce = 10  // in one turn: a display name of 2 KB takes 0.2 ms
)

// searchWords returns the words of a text as scripts take them.
func searchWords(text string) string { return strings.Join(retwis.SearchWords(text), " ") }

// FindUsers returns up to count users whose names match a query, the best matches first: a username that is the query,
// display names with the words of the query and no others, names with all of its words, then names with words that begin
// with those of the query. Users of one rank are in the order of their usernames. If very many users match, the search
// examines only some of them.
func (s *Accounts) FindUsers(ctx context.Context, query string, count int) ([]*retwis.User, error) {
	ids, err := s.matches(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("find users by %q: %w", query, err)
	}
	rank := ranking(query)
	var best []match
	for some := range slices.Chunk(ids, readAtOnce) {
		users, err := s.Users(ctx, some)
		if err != nil {
			return nil, fmt.Errorf("find users by %q: %w", query, err)
		}
		users = slices.DeleteFunc(users, func(user *retwis.User) bool { return user == nil || user.BeingDeleted })
		matches, err := ranked(ctx, users, rank)
		if err != nil {
			return nil, fmt.Errorf("find users by %q: %w", query, err)
		}
		best = append(best, matches...)
		slices.SortFunc(best, func(a, b match) int { return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.name, b.name)) })
		if len(best) > count {
			clear(best[count:])
			best = best[:count]
		}
	}
	users := make([]*retwis.User, len(best))
	for i, m := range best {
		users[i] = m.User
	}
	return users, nil
}

// match is a user whom a people search has found.
type match struct {
	*retwis.User
	rank int
	name string // the username, folded
}

// ranked returns users with their ranks. It waits for a turn for each few of them.
func ranked(ctx context.Context, users []*retwis.User, rank func(*retwis.User) int) ([]match, error) {
	matches := make([]match, 0, len(users))
	for some := range slices.Chunk(users, rankedAtOnce) {
		rows := rowsPerRank * len(some)
		for _, user := range some {
			rows += len(user.DisplayName) / cost.SegmentedBytesPerRow
		}
		if err := cost.Walk(ctx, rows); err != nil {
			return nil, err
		}
		done, err := cost.ComputeTurn(ctx)
		if err != nil {
			return nil, err
		}
		for _, user := range some {
			matches = append(matches, match{user, rank(user), retwis.FoldUsername(user.Username)})
		}
		done()
	}
	return matches, nil
}

// matches returns users who may match a query, each once.
func (s *Accounts) matches(ctx context.Context, query string) ([]retwis.UserID, error) {
	var ids []retwis.UserID
	if name := usernameOf(query); retwis.IsUsername(name) {
		id, err := s.idByName(ctx, name)
		if err != nil && !errors.Is(err, retwis.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			ids = append(ids, id)
		}
	}
	words := retwis.SearchWords(query)
	if len(words) == 0 {
		return ids, nil
	}
	seen := map[retwis.UserID]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	searches := make([]wordSearch, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		searches[i] = wordSearch{partition: p, left: foundPerPartition}
	}
	ctx = cost.Long(ctx)
	for range entriesPerPartition / entriesPerSearch {
		if err := s.searchOn(ctx, searches, words); err != nil {
			return nil, err
		}
		for _, search := range searches {
			for _, id := range search.found {
				if !seen[id] {
					ids = append(ids, id)
				}
				seen[id] = true
			}
		}
		searches = slices.DeleteFunc(searches, wordSearch.ended)
		if len(searches) == 0 {
			break
		}
	}
	return ids, nil
}

// wordSearch is the search of one partition for users with some words.
type wordSearch struct {
	partition rdb.Partition
	after     string // the last entry that was read; empty at the beginning and at the end
	left      int    // users to find
	found     []retwis.UserID
}

func (w wordSearch) ended() bool { return w.after == "" || w.left <= 0 }

// searchOn reads the next entries of some partitions.
func (s *Accounts) searchOn(ctx context.Context, searches []wordSearch, words []string) error {
	calls := make([]rdb.Call, len(searches))
	for i, w := range searches {
		calls[i] = rdb.Call{
			Script: script.FindUsers, Keys: []string{w.partition.SearchWords()},
			Args: []any{w.partition.Prefix(rdb.AccountKeys), w.left, entriesPerSearch, w.after},
		}
		for _, word := range words {
			calls[i].Args = append(calls[i].Args, word)
		}
	}
	for i, result := range s.db.DoAll(ctx, calls) {
		reply, err := result.Slice()
		if err != nil || len(reply) < 2 {
			return fmt.Errorf("reply %v: %w", reply, err)
		}
		users := reply[:len(reply)-2] // the last one is the number of rows visited
		w := &searches[i]
		w.after, w.left, w.found = rdb.Text(reply[len(reply)-2]), w.left-len(users), nil
		for _, user := range users {
			id, err := retwis.ParseUserID(rdb.Text(user))
			if err != nil {
				return err
			}
			w.found = append(w.found, id)
		}
	}
	return nil
}

// usernameOf returns the username that a query may be.
func usernameOf(query string) string { return strings.TrimPrefix(strings.TrimSpace(query), "@") }

// ranking returns a function that rates how well a user matches a query. Lower is better.
func ranking(query string) func(*retwis.User) int {
	name, words := retwis.FoldUsername(usernameOf(query)), retwis.SearchWords(query)
	return func(user *retwis.User) int {
		display := retwis.SearchWords(user.DisplayName)
		all := slices.Concat(display, retwis.SearchWords(user.Username))
		switch {
		case retwis.FoldUsername(user.Username) == name:
			return 0
		case slices.Equal(display, words):
			return 1
		case !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(all, word) }):
			return 2
		default:
			return 3
		}
	}
}
