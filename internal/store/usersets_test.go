package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// usersPage reads one page of a connection of users.
type usersPage func(retwis.Page) (retwis.FollowPage, error)

// everybody reads a connection of users page by page, newest first, in one direction.
func (e *engine) everybody(r *rand.Rand, read usersPage, older bool, from retwis.Cursor) (users []retwis.Follow, total int) {
	e.T.Helper()
	for {
		n := 1 + r.IntN(12)
		page := retwis.Page{First: n, After: from}
		if !older {
			page = retwis.Page{Last: n, Before: from}
		}
		got, err := read(page)
		if err != nil {
			e.T.Fatal(err)
		}
		more, back := got.HasNextPage, got.HasPreviousPage
		if older {
			users = append(users, got.Follows...)
		} else {
			more, back = back, more
			users = slices.Concat(got.Follows, users)
		}
		if back != (from != "") {
			e.T.Errorf("from %q on, a page says %t of what lies behind it", from, back)
		}
		if more && len(got.Follows) != n {
			e.T.Fatalf("a page of %d has %d users, and more follow", n, len(got.Follows))
		}
		if !more {
			return users, got.TotalCount
		}
		if from = got.Follows[0].Cursor; older {
			from = got.Follows[n-1].Cursor
		}
	}
}

// wantEverybody reads a connection in both directions, from the ends and from places
// within, and compares it with what it should hold.
func (e *engine) wantEverybody(r *rand.Rand, name string, read usersPage, want []retwis.UserID) {
	e.T.Helper()
	forward, total := e.everybody(r, read, true, "")
	if got := idsOf(forward); !slices.Equal(got, want) || total != len(want) {
		e.T.Errorf("%s: %v (total %d), want %v", name, got, total, want)
		return
	}
	backward, total := e.everybody(r, read, false, "")
	if got := idsOf(backward); !slices.Equal(got, want) || total != len(want) {
		e.T.Errorf("%s, backward: %v (total %d), want %v", name, got, total, want)
	}
	for range min(5, len(want)) {
		i := r.IntN(len(want))
		if got, _ := e.everybody(r, read, true, forward[i].Cursor); !slices.Equal(idsOf(got), want[i+1:]) {
			e.T.Errorf("%s after %d: %v, want %v", name, i, idsOf(got), want[i+1:])
		}
		if got, _ := e.everybody(r, read, false, forward[i].Cursor); !slices.Equal(idsOf(got), want[:i]) {
			e.T.Errorf("%s before %d: %v, want %v", name, i, idsOf(got), want[:i])
		}
	}
}

func idsOf(follows []retwis.Follow) []retwis.UserID {
	ids := make([]retwis.UserID, len(follows))
	for i, f := range follows {
		ids[i] = f.User.ID
	}
	return ids
}

// followTimes reads when the followers of a user began to follow, as it is stored.
func (e *engine) followTimes(client redis.UniversalClient, of retwis.UserID) map[retwis.UserID]float64 {
	e.T.Helper()
	times := map[retwis.UserID]float64{}
	for _, key := range enginetest.Keys(e.T, client, "*:fans:"+of.String()) {
		edges, err := client.ZRangeWithScores(e.T.Context(), key, 0, -1).Result()
		if err != nil {
			e.T.Fatal(err)
		}
		for _, edge := range edges {
			id, err := retwis.ParseUserID(fmt.Sprint(edge.Member))
			if err != nil {
				e.T.Fatal(err)
			}
			times[id] = edge.Score
		}
	}
	return times
}

// newestFollows sorts users by time, the newest first, then by id.
func newestFollows(users []retwis.UserID, times map[retwis.UserID]float64) []retwis.UserID {
	return slices.SortedFunc(slices.Values(users), func(a, b retwis.UserID) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(b, a))
	})
}

// settings under which followers lie in many sets or one, walked in many steps or one.
func settings() map[string]store.Options {
	return map[string]store.Options{
		"many sets":             {},
		"many sets, many steps": {Partitions: 4, Chunk: 10},
		"one set":               {Partitions: 1},
		"one set, many steps":   {Partitions: 1, Chunk: 20},
	}
}

func TestCommonFollowers_EqualsTheIntersection(t *testing.T) {
	t.Parallel()
	for name, options := range settings() {
		t.Run(name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := options
				options.URL = url
				e := newEngine(t, options)
				client := enginetest.Client(t, url)
				r := redistest.Rand(t)
				stars := e.Register("ann", "bob", "eve")
				fans := e.Crowd("fan", 150)
				follows := map[retwis.UserID]map[retwis.UserID]bool{}
				for _, star := range stars[:2] {
					follows[star] = map[retwis.UserID]bool{}
					for _, i := range r.Perm(len(fans))[:100] {
						e.Follow(fans[i], star)
						follows[star][fans[i]] = true
					}
					for fan := range follows[star] {
						if r.IntN(6) == 0 {
							e.Unfollow(fan, star)
							delete(follows[star], fan)
						}
					}
				}
				e.wantCommonFollowers(r, client, stars[0], stars[1], follows)
				e.wantCommonFollowers(r, client, stars[1], stars[0], follows)
				e.wantCommonFollowers(r, client, stars[0], stars[0], follows)
				e.wantCommonFollowers(r, client, stars[0], stars[2], follows)
				e.wantCommonFollowers(r, client, stars[2], stars[0], follows)

				// Followers of one star alone change nothing, but which set is the larger.
				for i, star := range []retwis.UserID{stars[0], stars[1], stars[0]} {
					e.addGhosts(client, star, retwis.UserID(10_000*(i+1)))
					e.wantCommonFollowers(r, client, stars[0], stars[1], follows)
				}

				page, err := e.Follows.CommonFollowers(t.Context(), stars[0], stars[1], retwis.Page{First: 1})
				if err != nil {
					t.Fatal(err)
				}
				cursor := page.Follows[0].Cursor
				for _, others := range [][2]retwis.UserID{{stars[1], stars[0]}, {stars[0], stars[2]}} {
					if _, err := e.Follows.CommonFollowers(t.Context(), others[0], others[1], retwis.Page{First: 1, After: cursor}); !errors.Is(err, retwis.ErrBadCursor) {
						t.Errorf("common followers of %v with the cursor of others: %v", others, err)
					}
				}
				if _, err := e.Follows.KnownFollowers(t.Context(), stars[0], stars[1], retwis.Page{Last: 1, Before: cursor}); !errors.Is(err, retwis.ErrBadCursor) {
					t.Errorf("known followers with the cursor of common ones: %v", err)
				}
			})
		})
	}
}

func (e *engine) wantCommonFollowers(r *rand.Rand, client redis.UniversalClient, of, with retwis.UserID, follows map[retwis.UserID]map[retwis.UserID]bool) {
	e.T.Helper()
	var want []retwis.UserID
	for fan := range follows[of] {
		if follows[with][fan] {
			want = append(want, fan)
		}
	}
	times := e.followTimes(client, of)
	e.wantEverybody(r, fmt.Sprintf("common followers of %s and %s", of, with), func(page retwis.Page) (retwis.FollowPage, error) {
		got, err := e.Follows.CommonFollowers(e.T.Context(), of, with, page)
		for _, f := range got.Follows {
			if at := float64(f.FollowedAt.UnixMicro()); at != times[f.User.ID] {
				e.T.Errorf("%s follows %s since %v, want %v", f.User.ID, of, at, times[f.User.ID])
			}
		}
		return got, err
	}, newestFollows(want, times))
}

func TestCommonFollowers_LimitsConcurrentLongScans(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2, Chunk: 2})
		stars := e.Register("ann", "bob")
		for _, fan := range e.Crowd("fan", 60) {
			e.Follow(fan, stars[0])
			e.Follow(fan, stars[1])
		}
		var wg sync.WaitGroup
		for i := range 12 {
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				cancel()
			}
			wg.Go(func() {
				defer cancel()
				page, err := e.Follows.CommonFollowers(ctx, stars[0], stars[1], retwis.Page{First: 1})
				switch {
				case i%3 == 0 && !errors.Is(err, context.Canceled):
					t.Errorf("without time it ends with %v", err)
				case i%3 != 0 && (err != nil || page.TotalCount != 60):
					t.Errorf("%d common followers, %v", page.TotalCount, err)
				}
			})
		}
		wg.Wait()
	})
}

// addGhosts adds followers to each set of a user's followers, more than a packed set has.
func (e *engine) addGhosts(client redis.UniversalClient, of, first retwis.UserID) {
	e.T.Helper()
	ghosts := make([]redis.Z, 1200)
	for i := range ghosts {
		ghosts[i] = redis.Z{Score: float64(i + 1), Member: (first + retwis.UserID(i)).String()}
	}
	for _, key := range enginetest.Keys(e.T, client, "*:fans:"+of.String()) {
		if err := client.ZAdd(e.T.Context(), key, ghosts...).Err(); err != nil {
			e.T.Fatal(err)
		}
	}
}

func TestKnownFollowers_EqualsTheIntersection(t *testing.T) {
	t.Parallel()
	for name, options := range settings() {
		t.Run(name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := options
				options.URL = url
				e := newEngine(t, options)
				client := enginetest.Client(t, url)
				r := redistest.Rand(t)
				people := e.Register("star", "viewer", "stranger")
				star, viewer, stranger := people[0], people[1], people[2]
				var want []retwis.UserID
				for _, fan := range e.Crowd("fan", 250) {
					followed, following := r.IntN(3) > 0, r.IntN(3) > 0
					if followed {
						e.Follow(viewer, fan)
					}
					if following {
						e.Follow(fan, star)
					}
					if followed && following {
						want = append(want, fan)
					}
				}
				for range 5 {
					e.Unfollow(want[0], star)
					e.Unfollow(viewer, want[1])
					want = want[2:]
				}
				known := func(of, viewer retwis.UserID) usersPage {
					return func(page retwis.Page) (retwis.FollowPage, error) {
						return e.Follows.KnownFollowers(t.Context(), of, viewer, page)
					}
				}
				e.wantEverybody(r, "those the viewer knows", known(star, viewer), newestFollows(want, e.followTimes(client, star)))
				e.wantEverybody(r, "those a stranger knows", known(star, stranger), nil)
				e.wantEverybody(r, "followers of nobody", known(stranger, viewer), nil)
				e.Follow(viewer, star)
				e.wantEverybody(r, "of somebody the viewer follows", known(star, viewer), newestFollows(want, e.followTimes(client, star)))
			})
		})
	}
}

// The price of common followers is that of the smaller set, which is the one that is walked, whichever user is asked about.
func TestCommonFollowers_CostWhatTheSmallerSetTakes(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1, Chunk: 4})
	users := storetest.Register(t, s, "large", "small")
	large, small := users[0], users[1]
	var fans []string
	for i := range 40 {
		fans = append(fans, fmt.Sprint("fan", i))
	}
	for i, fan := range storetest.Register(t, s, fans...) {
		for _, author := range users[:1+min(3/(i+1), 1)] { // both for the first three
			if err := s.Follows.Follow(t.Context(), fan, author); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, pair := range [][2]retwis.UserID{{large, small}, {small, large}} {
		work := workOf(t, func(ctx context.Context) {
			page, err := s.Follows.CommonFollowers(ctx, pair[0], pair[1], retwis.Page{First: 1})
			if err != nil || page.TotalCount != 3 {
				t.Errorf("%d common followers, %v", page.TotalCount, err)
			}
		})
		if work.Scripts > 2 || work.Rows > 40 {
			t.Errorf("3 of 40 followers took %d scripts and %d rows", work.Scripts, work.Rows)
		}
	}
}
