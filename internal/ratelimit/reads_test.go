package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

// memoryStore is a store in memory for budgets of reads.
type memoryStore struct {
	mu     sync.Mutex
	full   map[Key]time.Time
	calls  int
	broken error
}

func (s *memoryStore) Spend(_ context.Context, requests ...Request) ([]Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	results := make([]Result, len(requests))
	for i, c := range requests {
		if s.broken != nil {
			results[i].Unknown = true
			continue
		}
		used := max(time.Until(s.full[c.Key]), 0)
		if c.Done || used+c.Cost <= c.Rate.Period {
			used += c.Cost
		} else {
			results[i].Refused = true
		}
		s.full[c.Key] = time.Now().Add(used)
		results[i].Used = used
	}
	return results, s.broken
}

func (*memoryStore) RememberNetwork(context.Context, string, netip.Prefix) error { return nil }

func (s *memoryStore) called() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *memoryStore) set(broken error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

// reads is the rate of these tests: one per second, sixty at once.
var reads = Policies{Reads: Rate{Limit: 60, Period: time.Minute}}

// processes returns the limiters of several processes on one store. They run until the test
// ends.
func processes(t *testing.T, n int, rates Policies) (*memoryStore, []*Limiter) {
	t.Helper()
	s := &memoryStore{full: map[Key]time.Time{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	all := make([]*Limiter, n)
	for i := range all {
		all[i] = New(s, rates, slog.New(slog.DiscardHandler))
		wg.Go(func() { _ = all[i].Run(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return s, all
}

var alice = Client{User: 1025}

func read(t *testing.T, q *Limiter, cost int) *retwis.Error {
	t.Helper()
	_, err := q.Take(t.Context(), alice, Cost{Reads: cost})
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*retwis.Error](err)
	if !ok || refused.Code != retwis.CodeRateLimited {
		t.Fatalf("got the error %v", err)
	}
	return refused
}

func TestTake_CountsReadsByCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, all := processes(t, 1, reads)
		q := all[0]
		for i := range 6 {
			if err := read(t, q, 10); err != nil {
				t.Fatalf("read %d: %v", i, err)
			}
		}
		if err := read(t, q, 5); err == nil || err.RetryAfterSeconds != 5 {
			t.Errorf("got %v", err)
		}
		if q.Check(alice) == nil {
			t.Error("Check accepts a client without a budget")
		}
		time.Sleep(5 * time.Second)
		if err := q.Check(alice); err != nil {
			t.Error(err)
		}
		if err := read(t, q, 6); err == nil || err.RetryAfterSeconds != 1 {
			t.Errorf("got %v", err)
		}
		if err := read(t, q, 5); err != nil {
			t.Error(err)
		}
		if _, err := q.Take(t.Context(), Client{User: 2049}, Cost{Reads: 60}); err != nil {
			t.Errorf("another user: %v", err)
		}
		time.Sleep(time.Minute)
		if err := read(t, q, 1_000_000); err != nil {
			t.Errorf("an operation above the whole budget: %v", err)
		}
		if read(t, q, 1) == nil {
			t.Error("it took less than the whole budget")
		}
	})
}

func TestTake_DoesNotReportSmallUsage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, all := processes(t, 1, reads)
		for range 1000 {
			if err := read(t, all[0], 2); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
		}
		if n := s.called(); n > 0 {
			t.Errorf("the store was called %d times", n)
		}
	})
}

func TestTake_SharesBudgetsBetweenProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, all := processes(t, 3, reads)
		done := 0
		for refused := 0; refused < 3; {
			refused = 0
			for _, q := range all {
				if read(t, q, 1) != nil {
					refused++
				} else {
					done++
				}
				synctest.Wait()
			}
		}
		// Each process may have accepted less than a twentieth of the budget without a report.
		if done < 60 || done > 66 {
			t.Errorf("%d reads passed, want 60 or a few more", done)
		}
		if n := s.called(); n > 30 {
			t.Errorf("the store was called %d times", n)
		}
	})
}

func TestTake_CountsReadsWithoutTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, all := processes(t, 2, reads)
		s.set(errors.New("redis is down"))
		for i := range 60 {
			if err := read(t, all[0], 1); err != nil {
				t.Fatalf("read %d: %v", i, err)
			}
		}
		if read(t, all[0], 1) == nil {
			t.Error("the process has stopped counting")
		}
		s.set(nil)
		time.Sleep(retryInterval)
		synctest.Wait() // a report that has begun is over
		if left, ok := all[0].Budget(t.Context(), alice); !ok || left.Remaining > 1 {
			t.Errorf("got %v", left)
		}
		if left, _ := all[1].Budget(t.Context(), alice); left.Remaining > 1 {
			t.Errorf("the other process: got %v", left)
		}
	})
}

func TestTake_DoesNotLogDisconnectedClients(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &memoryStore{broken: errors.New("cut off")}
	q := New(s, Policies{Posts: Rate{Limit: 1, Period: time.Minute}}, slog.New(slog.NewTextHandler(&log, nil)))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for _, left := range []bool{false, true} {
		log.Reset()
		if left {
			leave()
		}
		if _, err := q.Take(ctx, Client{User: 1}, Cost{Reads: 1, Posts: 1}); err != nil {
			t.Error(err)
		}
		if (log.Len() == 0) != left {
			t.Errorf("the client has disconnected: %t; logged: %s", left, &log)
		}
	}
}

func TestBudget_IncludesOtherProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, all := processes(t, 2, reads)
		_ = read(t, all[0], 2)
		left, ok := all[1].Budget(t.Context(), alice)
		if !ok || left.Remaining != 60 {
			t.Errorf("before a report: got %v", left)
		}
		if left, _ = all[0].Budget(t.Context(), alice); left.Remaining != 58 || left.Reset != 2*time.Second {
			t.Errorf("got %v", left)
		}
		if left, _ = all[1].Budget(t.Context(), alice); left.Remaining != 58 {
			t.Errorf("after a report: got %v", left)
		}
		if left, err := all[0].Take(t.Context(), alice, Cost{Reads: 8}); err != nil || left.Remaining != 50 {
			t.Errorf("Take returns %v, %v", left, err)
		}
	})
}

func TestSpend_UsesTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, all := processes(t, 1, reads)
		q := all[0]
		for range 1000 {
			q.Spend(alice, 10)
		}
		if q.Check(alice) == nil {
			t.Error("Check accepts a client that sends only invalid requests")
		}
		time.Sleep(75 * time.Second)
		if err := q.Check(alice); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}

func TestReadLimiter_ForgetsReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, all := processes(t, 1, reads)
		l := all[0].reads
		for i := range maxReaders + 1000 {
			_, _ = all[0].Take(t.Context(), Client{User: retwis.UserID(i + 1)}, Cost{Reads: 1})
		}
		l.mu.Lock()
		n := len(l.readers)
		l.mu.Unlock()
		if n > maxReaders {
			t.Errorf("%d readers are held", n)
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		if n := len(l.readers); n != 0 {
			t.Errorf("%d readers with full budgets are held", n)
		}
	})
}

func TestLimiter_WithoutPolicies(t *testing.T) {
	t.Parallel()
	s, all := processes(t, 1, Policies{})
	q := all[0]
	for range 1000 {
		q.Spend(alice, 1_000_000)
		budget, err := q.Take(t.Context(), alice, Cost{
			Reads: 1_000_000, Posts: 9, Follows: 9, Registrations: 9, Passwords: 9, Logins: []string{"bob"},
		})
		if err = errors.Join(q.Check(alice), err); err != nil || budget != (Budget{}) {
			t.Fatalf("got %v, %v", budget, err)
		}
	}
	q.NotRegistered(t.Context(), alice)
	if _, limited := q.Budget(t.Context(), alice); limited || s.called() > 0 {
		t.Errorf("the store was called %d times", s.called())
	}
}

func TestReadLimiter_ReportsReadsDuringAReportNext(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*readLimiter, Key, time.Duration){
		"that succeeds": func(l *readLimiter, key Key, unsent time.Duration) { l.settle(key, unsent) },
		"that fails":    func(l *readLimiter, key Key, unsent time.Duration) { l.failed(key, unsent) },
	} {
		l, key := newReadLimiter(reads.Reads), Key{User: alice.User}
		l.take(key, 10)
		if due := l.next(); len(due) != 1 {
			t.Fatalf("%d are due", len(due))
		}
		unsent := l.begin(key)
		l.take(key, 20)
		end(l, key, unsent)
		if due := l.next(); len(due) != 1 {
			t.Errorf("after a report that %s, %d are due", name, len(due))
		}
	}
}

// Usage from a long outage does not reduce the budget afterwards.
func TestReadLimiter_BoundsUsageOfAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, all := processes(t, 1, reads)
		s.set(errors.New("redis is down"))
		_ = read(t, all[0], 60)
		time.Sleep(50 * time.Second)
		s.set(nil)
		time.Sleep(2 * retryInterval)
		if left, _ := all[0].Budget(t.Context(), alice); left.Remaining < 50 {
			t.Errorf("%d remain", left.Remaining)
		}
	})
}
