package ratelimit_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func open(t *testing.T, url string) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// patient extends the timeout of the store, because the machine may be busy.
func patient(q *ratelimit.Limiter) *ratelimit.Limiter {
	q.SetStoreTimeout(time.Minute)
	return q
}

// slow returns rates whose budgets do not refill noticeably during a test.
func slow() ratelimit.Policies {
	return ratelimit.Policies{
		Reads:         ratelimit.Rate{Limit: 1000, Period: 24 * time.Hour},
		Posts:         ratelimit.Rate{Limit: 7, Period: 24 * time.Hour},
		Follows:       ratelimit.Rate{Limit: 8, Period: 24 * time.Hour},
		Logins:        ratelimit.Rate{Limit: 10, Period: 24 * time.Hour},
		Registrations: ratelimit.Rate{Limit: 5, Period: 24 * time.Hour},
	}
}

func at(address string) ratelimit.Client {
	return ratelimit.Client{Address: netip.MustParseAddr(address)}
}

var alice = ratelimit.Client{User: 1025}

// passing returns how many of n attempts at a cost pass.
func passing(t *testing.T, q *ratelimit.Limiter, client ratelimit.Client, cost ratelimit.Cost, n int) int {
	t.Helper()
	passed := 0
	for range n {
		_, err := q.Take(t.Context(), client, cost)
		if err == nil {
			passed++
			continue
		}
		if refused, ok := errors.AsType[*retwis.Error](err); !ok || refused.Code != retwis.CodeRateLimited || refused.RetryAfterSeconds < 1 {
			t.Fatalf("got the error %v", err)
		}
	}
	return passed
}

func TestTake_LimitsEachAction(t *testing.T) {
	t.Parallel()
	bob := ratelimit.Client{User: 2050, Address: alice.Address}
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		q := patient(ratelimit.New(open(t, url).Limits, slow(), slog.New(slog.DiscardHandler)))
		other := patient(ratelimit.New(open(t, url).Limits, slow(), slog.New(slog.DiscardHandler))) // another process
		check := func(what string, got, want int) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %d passed, want %d", what, got, want)
			}
		}
		check("posts", passing(t, q, alice, ratelimit.Cost{Posts: 1}, 5), 5)
		check("posts by the other process", passing(t, other, alice, ratelimit.Cost{Posts: 1}, 5), 2)
		check("posts of bob", passing(t, q, bob, ratelimit.Cost{Posts: 4}, 3), 1)
		check("another post of bob", passing(t, q, bob, ratelimit.Cost{Posts: 1}, 4), 3)
		check("follows", passing(t, q, alice, ratelimit.Cost{Follows: 1}, 10), 8)
		check("passwords", passing(t, q, alice, ratelimit.Cost{Passwords: 1}, 12), 10)

		check("logins", passing(t, q, at("192.0.2.1"), ratelimit.Cost{Logins: []string{"ann"}}, 12), 10)
		check("logins with another name", passing(t, q, at("192.0.2.1"), ratelimit.Cost{Logins: []string{"bob"}}, 1), 0)
		check("logins with the name from elsewhere", passing(t, q, at("192.0.2.2"), ratelimit.Cost{Logins: []string{"ANN"}}, 1), 0)
		check("another name from elsewhere", passing(t, q, at("192.0.2.2"), ratelimit.Cost{Logins: []string{"cid", "dan"}}, 1), 1)
		check("an impossible username", passing(t, q, at("192.0.2.3"), ratelimit.Cost{Logins: []string{"no such name!"}}, 12), 10)

		check("IPv6", passing(t, q, at("2001:db8::1"), ratelimit.Cost{Registrations: 1}, 3), 3)
		check("its neighbours", passing(t, q, at("2001:db8::ffff:0:1"), ratelimit.Cost{Registrations: 1}, 3), 2)
		check("the next network", passing(t, q, at("2001:db8:0:1::1"), ratelimit.Cost{Registrations: 1}, 3), 3)
		q.NotRegistered(t.Context(), at("2001:db8::2"))
		check("after one failed", passing(t, q, at("2001:db8::1"), ratelimit.Cost{Registrations: 1}, 3), 1)
		check("registrations and logins", passing(t, q, at("2001:db8:0:1::1"), ratelimit.Cost{Logins: []string{"eve"}}, 12), 7)
	})
}

// Login attempts from other networks do not lock out the owner of a username.
func TestTake_AcceptsOwnersFromFamiliarNetworks(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		q := patient(ratelimit.New(open(t, url).Limits, slow(), slog.New(slog.DiscardHandler)))
		home := at("192.0.2.1")
		q.LoggedIn(t.Context(), home, "Ann")
		for _, strange := range []string{"198.51.100.1", "198.51.100.2", "198.51.100.3"} {
			_ = passing(t, q, at(strange), ratelimit.Cost{Logins: []string{"ann"}}, 5)
		}
		if passing(t, q, at("198.51.100.4"), ratelimit.Cost{Logins: []string{"ann"}}, 1) != 0 {
			t.Error("other networks pass")
		}
		if n := passing(t, q, home, ratelimit.Cost{Logins: []string{"ann"}}, 12); n != 10 {
			t.Errorf("the owner passed %d times", n)
		}
	})
}

func TestTake_ReplenishesBudgets(t *testing.T) {
	t.Parallel()
	s := redistest.Server(t)
	rates := ratelimit.Policies{Posts: ratelimit.Rate{Limit: 30, Period: 30 * time.Second}}
	q := patient(ratelimit.New(open(t, s.URL()).Limits, rates, slog.New(slog.DiscardHandler)))
	start, passed := time.Now(), 0
	for passed < 32 && time.Since(start) < time.Minute {
		if _, err := q.Take(t.Context(), alice, ratelimit.Cost{Posts: 1}); err == nil {
			passed++
		}
		time.Sleep(10 * time.Millisecond)
	}
	if took := time.Since(start); passed < 32 || took < 1900*time.Millisecond {
		t.Errorf("%d passed within %s", passed, took)
	}
	ttl, err := s.Client().TTL(t.Context(), firstKey(t, s, "*budget*")).Result()
	if err != nil || ttl <= 0 || ttl > 30*time.Second {
		t.Errorf("the budget expires in %s, %v", ttl, err)
	}
}

func firstKey(t *testing.T, s *redistest.Node, pattern string) string {
	t.Helper()
	keys, err := s.Client().Keys(t.Context(), pattern).Result()
	if err != nil || len(keys) == 0 {
		t.Fatalf("got the keys %q, %v", keys, err)
	}
	return keys[0]
}

// After the clock was set back, no client waits longer than two periods.
func TestSpend_ToleratesAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	s := redistest.Server(t)
	db := open(t, s.URL())
	rate := slow().Posts
	charge := ratelimit.Request{Action: ratelimit.Posts, Key: ratelimit.Key{User: 1}, Rate: rate, Cost: rate.Time(1)}
	if _, err := db.Limits.Spend(t.Context(), charge); err != nil {
		t.Fatal(err)
	}
	key := firstKey(t, s, "*budget*")
	if err := s.Client().Set(t.Context(), key, "9007199254740991", 0).Err(); err != nil {
		t.Fatal(err)
	}
	results, err := db.Limits.Spend(t.Context(), charge)
	if err != nil || !results[0].Refused || results[0].Used != 2*rate.Period {
		t.Errorf("got %v, %v", results, err)
	}
}

func TestTake_SharesReadsBetweenProcesses(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{}, 2)
		var all [2]*ratelimit.Limiter
		for i := range all {
			q := patient(ratelimit.New(open(t, url).Limits, slow(), slog.New(slog.DiscardHandler)))
			all[i] = q
			go func() {
				_ = q.Run(ctx)
				done <- struct{}{}
			}()
		}
		defer func() {
			cancel()
			<-done
			<-done
		}()
		if n := passing(t, all[0], alice, ratelimit.Cost{Reads: 100}, 12); n != 10 {
			t.Errorf("%d reads passed", n)
		}
		deadline := time.Now().Add(time.Minute)
		for {
			left, ok := all[1].Budget(t.Context(), alice)
			if ok && left.Remaining == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the other process has the budget %v", left)
			}
		}
		if all[1].Check(alice) == nil {
			t.Error("the other process accepts the client")
		}
	})
}

func TestTake_WithoutRedis(t *testing.T) {
	t.Parallel()
	s := redistest.Server(t)
	db := open(t, s.URL())
	q := ratelimit.New(db.Limits, slow(), slog.New(slog.DiscardHandler))
	s.Kill()
	for _, cost := range []ratelimit.Cost{{Reads: 1}, {Posts: 1}, {Follows: 1}} {
		if _, err := q.Take(t.Context(), alice, cost); err != nil {
			t.Errorf("%v: %v", cost, err)
		}
	}
	for _, cost := range []ratelimit.Cost{{Registrations: 1}, {Logins: []string{"ann"}}, {Passwords: 1}} {
		_, err := q.Take(t.Context(), alice, cost)
		shown, ok := errors.AsType[*retwis.Error](err)
		if !errors.Is(err, ratelimit.ErrUnavailable) || !ok || shown.Code != retwis.CodeUnavailable || shown.RetryAfterSeconds == 0 {
			t.Errorf("%v: got the error %v, which clients see as %+v", cost, err, shown)
		}
	}
	s.Start()
	for deadline := time.Now().Add(time.Minute); db.DB().Ping(t.Context()) != nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("Redis does not answer")
		}
	}
	if n := passing(t, patient(q), alice, ratelimit.Cost{Posts: 1}, 9); n != 7 {
		t.Errorf("%d posts passed once Redis was back", n)
	}
}

// If one of several masters does not answer, the budgets on the others remain known.
func TestReport_WithOneMasterDown(t *testing.T) {
	t.Parallel()
	cluster := redistest.SharedCluster(t)
	q := patient(ratelimit.New(open(t, cluster.URL()).Limits, slow(), slog.New(slog.DiscardHandler)))
	var readers []ratelimit.Key
	for user := retwis.UserID(1); user <= 16; user++ { // one of each partition
		readers = append(readers, ratelimit.Key{User: user})
	}
	if err := q.Report(t.Context(), readers); err != nil { // loads the script on every master
		t.Fatal(err)
	}
	for _, key := range readers {
		q.Spend(ratelimit.Client{User: key.User}, 100)
	}
	q.SetStoreTimeout(5 * time.Second) // for the others to answer
	cluster.Nodes()[0].Pause()
	defer cluster.Nodes()[0].Resume()
	if err := q.Report(t.Context(), readers); err == nil {
		t.Error("the report succeeds although a master does not answer")
	}
	unsent := 0
	for _, key := range readers {
		if q.Unsent(key) > 0 {
			unsent++
		}
		if left := q.KnownBudget(key).Remaining; left < 898 || left > 901 {
			t.Errorf("%v has %d remaining", key, left)
		}
	}
	if unsent == 0 || unsent == len(readers) {
		t.Errorf("%d of %d are not reported yet", unsent, len(readers))
	}
}
