package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func (e *engine) newest(page retwis.Page) (retwis.FollowPage, error) {
	got, err := e.Accounts.NewestUsers(e.T.Context(), page)
	for _, f := range got.Follows {
		if !f.FollowedAt.IsZero() {
			e.T.Errorf("%s is among the newest users by a follow at %s", f.User.ID, f.FollowedAt)
		}
	}
	return got, err
}

// registerAtOnce registers n users, several at a time, so that some are made in the same
// millisecond. It returns them sorted as the newest users are.
func (e *engine) registerAtOnce(prefix string, n int) []*retwis.User {
	e.T.Helper()
	const goroutines = 8
	users := make([]*retwis.User, n)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := g; i < n; i += goroutines {
				name := fmt.Sprint(prefix, i)
				var err error
				if users[i], err = e.Accounts.Register(e.T.Context(), retwis.Registration{Username: name, DisplayName: name, PasswordHash: "x"}); err != nil {
					e.T.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if e.T.Failed() {
		e.T.FailNow()
	}
	slices.SortFunc(users, func(a, b *retwis.User) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return users
}

func userIDs(users []*retwis.User) []retwis.UserID {
	ids := make([]retwis.UserID, len(users))
	for i, u := range users {
		ids[i] = u.ID
	}
	return ids
}

func TestNewestUsers_PagesByCreationTime(t *testing.T) {
	t.Parallel()
	for name, options := range settings() {
		t.Run(name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := options
				options.URL = url
				e := newEngine(t, options)
				r := redistest.Rand(t)
				e.wantEverybody(r, "newest users of none", e.newest, nil)
				users := e.registerAtOnce("user", 150)
				e.wantEverybody(r, "newest users", e.newest, userIDs(users))

				page, err := e.newest(retwis.Page{First: 1})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := e.Follows.KnownFollowers(t.Context(), users[0].ID, users[1].ID, retwis.Page{First: 1, After: page.Follows[0].Cursor}); !errors.Is(err, retwis.ErrBadCursor) {
					t.Errorf("known followers with a cursor of the newest users: %v", err)
				}
			})
		})
	}
}

func TestNewestUsers_AreCapped(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		const partitions, most = 4, 10
		e := newEngine(t, store.Options{URL: url, Partitions: partitions, NewestUsers: most})
		users := e.registerAtOnce("user", 150)
		in := map[int]int{}
		var want []retwis.UserID
		for _, u := range users {
			p := e.Outbox.PartitionOf(retwis.Home(u.ID))
			if in[p]++; in[p] <= most {
				want = append(want, u.ID)
			}
		}
		e.wantEverybody(redistest.Rand(t), "newest users", e.newest, want)
		if first := userIDs(users[:most]); !slices.Equal(want[:most], first) {
			t.Errorf("the newest %d are not among them: %v, want %v", most, want[:most], first)
		}
	})
}
