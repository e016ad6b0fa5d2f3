package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"retwis/internal/retwis"

	"github.com/redis/go-redis/v9"
)

// NewestUsers returns one page of the accounts made last, newest first. Each partition
// lists its newest, so the list as a whole holds at least as many of the newest; the
// total is how many it holds. A cursor of another connection is [retwis.ErrBadCursor].
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
		users.Follows[i].FollowedAt = time.Time{} // no follow put them here
	}
	return users, nil
}

// SearchUsers finds users whose names begin with a prefix, without regard to case, in the
// order of their names. A name that is just being registered counts towards the total, and
// is found once that is done. The prefix is not empty and made of characters of names only.
// A cursor that is not of a name with the prefix is [retwis.ErrBadCursor].
func (s *Accounts) SearchUsers(ctx context.Context, prefix string, page retwis.Page) (retwis.FollowPage, error) {
	search := nameSearch{prefix: retwis.FoldUsername(prefix), backward: page.Last > 0}
	if cursor := page.After + page.Before; cursor != "" { // one of them is empty
		var err error
		if search.beyond, err = cursor.Name(search.prefix); err != nil {
			return retwis.FollowPage{}, err
		}
	}
	found, err := s.searchUsers(ctx, search, page.First+page.Last)
	if err != nil {
		return retwis.FollowPage{}, fmt.Errorf("search users by %q: %w", prefix, err)
	}
	return found, nil
}

// searchUsers reads on for as long as names without users, few as they are, shorten the page.
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
		search.beyond = names.last
	}
	if search.backward {
		slices.Reverse(page.Follows)
	}
	return page, nil
}

// nameSearch says which names to find, all folded.
type nameSearch struct {
	prefix   string
	beyond   string // the name to go on from; empty for an end
	backward bool   // from the last name to the first
}

// foundNames is what a search finds.
type foundNames struct {
	ids   []retwis.UserID // of those whose names these are, in the order they were read
	last  string          // the last name read
	ahead int             // how many names there are beyond the place, these included
	total int             // how many names have the prefix
}

// names returns the nearest names. A name lies in the partition of its hash, so all
// partitions are asked.
func (s *Accounts) names(ctx context.Context, search nameSearch, count int) (foundNames, error) {
	all := redis.ZRangeBy{Min: "[" + search.prefix, Max: "(" + search.prefix + "\xff"}
	ahead := all
	ahead.Count = int64(count)
	// Behind a name stands a space, which sorts before all characters of names.
	switch {
	case search.beyond != "" && search.backward:
		ahead.Max = "(" + search.beyond + " "
	case search.beyond != "":
		ahead.Min = "(" + search.beyond + "!"
	}
	pipe := s.db.Client.Pipeline()
	read := pipe.ZRangeByLex
	if search.backward {
		read = pipe.ZRevRangeByLex
	}
	entries := make([]*redis.StringSliceCmd, len(s.db.Partitions()))
	counts := make([]*redis.IntCmd, len(s.db.Partitions()))
	totals := make([]*redis.IntCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		entries[i] = read(ctx, p.Names(), &ahead)
		counts[i] = pipe.ZLexCount(ctx, p.Names(), ahead.Min, ahead.Max)
		totals[i] = pipe.ZLexCount(ctx, p.Names(), all.Min, all.Max)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return foundNames{}, err
	}
	var found foundNames
	var names []string
	for i := range s.db.Partitions() {
		names = append(names, entries[i].Val()...)
		found.ahead += int(counts[i].Val())
		found.total += int(totals[i].Val())
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
