package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestRegister_OneOfManyConcurrentClaimsWins(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		const contenders = 50
		spelt := func(i int) string {
			return strings.Map(func(c rune) rune {
				if i >>= 1; i&1 == 1 {
					return c - 'a' + 'A'
				}
				return c
			}, "somebody")
		}
		errs := make([]error, contenders)
		users := make([]*retwis.User, contenders)
		var wg sync.WaitGroup
		for i := range contenders {
			wg.Go(func() {
				users[i], errs[i] = e.Accounts.Register(t.Context(), retwis.Registration{Username: spelt(i), PasswordHash: "x"})
			})
		}
		wg.Wait()
		var winner *retwis.User
		for i, err := range errs {
			switch {
			case err == nil && winner == nil:
				winner = users[i]
			case err == nil:
				t.Errorf("users %s and %s both registered the name", winner.ID, users[i].ID)
			case !errors.Is(err, retwis.ErrNameTaken):
				t.Error(err)
			}
		}
		if winner == nil {
			t.Fatal("no registration succeeded")
		}
		got, err := e.Accounts.UserByName(t.Context(), "SOMEBODY")
		if err != nil || got.ID != winner.ID {
			t.Errorf("UserByName: %v, %v; want %s", got, err, winner.ID)
		}
		e.Drain()
	})
}
