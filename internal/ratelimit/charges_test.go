package ratelimit

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

// What an operation did not use is available again, here and, after the next report, in other processes.
func TestReads_AreRefunded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, all := processes(t, 2, reads)
		p, q := all[0], all[1]
		alice := Client{User: 1}
		for range 20 {
			if _, err := p.Take(t.Context(), alice, Cost{Reads: 50}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // for the report
			p.Refund(alice, 50)
		}
		for name, limiter := range map[string]*Limiter{"this": p, "another": q} {
			if budget, _ := limiter.Budget(t.Context(), alice); budget.Remaining < 9 {
				t.Errorf("%s process: %d remain after refunds", name, budget.Remaining)
			}
		}
		if budget, _ := p.Budget(t.Context(), alice); budget.Remaining > 60 {
			t.Errorf("%d of 60 remain", budget.Remaining)
		}
		p.Refund(Client{User: 2}, 1_000)
		if budget, _ := p.Budget(t.Context(), Client{User: 2}); budget.Remaining != 60 {
			t.Errorf("a refund without a charge: %d remain", budget.Remaining)
		}
	})
}

// An operation that another limit refuses has not done the work of its price.
func TestTake_RefundsWhatAnotherLimitRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &memoryStore{full: map[Key]time.Time{}}
		l := New(store, Policies{Reads: Rate{Limit: 10_000, Period: time.Hour}, Likes: Rate{Limit: 1, Period: time.Hour}}, slog.New(slog.DiscardHandler))
		alice := Client{User: 1}
		for _, want := range []int{9_000, 9_000 - PerRefusal} {
			_, err := l.Take(t.Context(), alice, Cost{Reads: 1_000, Likes: 1})
			if budget := l.KnownBudget(alice.Key()); budget.Remaining != want {
				t.Errorf("%d remain after %v, want %d", budget.Remaining, err, want)
			}
		}
	})
}

// inMemory returns a limiter whose budgets are in memory.
func inMemory(policies Policies) *Limiter {
	return New(&memoryStore{full: map[Key]time.Time{}}, policies, slog.New(slog.DiscardHandler))
}

// Work beyond the price counts also when the budget is used up: the client waits for it.
func TestReads_ChargesMakeDebts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(reads)
		alice := Client{User: 1}
		for range 9 {
			_ = p.Charge(alice, 10, 10)
		}
		time.Sleep(29 * time.Second)
		if p.Check(alice) == nil {
			t.Error("a client with a debt is admitted")
		}
		time.Sleep(3 * time.Second)
		if err := p.Check(alice); err != nil {
			t.Errorf("after the debt is paid: %v", err)
		}
	})
}

// Attack: a client that always used up what became available had some points in each moment, and was treated as one with a budget.
func TestAffords_NeedsMoreThanWhatBecomesAvailableInAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(Policies{Reads: Rate{Limit: 1000, Period: time.Minute}})
		alice := Client{User: 1}
		p.Spend(alice, 989)
		if !p.Affords(alice) {
			t.Error("a client with 11 points of 1000 affords nothing")
		}
		for range 60 {
			p.Spend(alice, 18)
			if p.Affords(alice) {
				t.Fatal("a client that spends all the time affords more")
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		if !p.Affords(alice) {
			t.Error("a client that has paused affords nothing")
		}
		if !New(nil, Policies{}, slog.New(slog.DiscardHandler)).Affords(alice) {
			t.Error("without a limit, a client affords nothing")
		}
	})
}

func TestCheckHalf_RefusesAClientThatHasUsedMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(Policies{Reads: Rate{Limit: 1000, Period: time.Minute}})
		alice := Client{User: 1}
		p.Spend(alice, 500)
		if err := p.CheckHalf(alice); err != nil {
			t.Errorf("with half of the budget: %v", err)
		}
		p.Spend(alice, 100)
		var refused *retwis.Error
		if err := p.CheckHalf(alice); !errors.As(err, &refused) || refused.Code != retwis.CodeRateLimited || refused.RetryAfterSeconds != 6 {
			t.Errorf("with two fifths of the budget: %v", err)
		}
		if err := p.Check(alice); err != nil {
			t.Errorf("an operation is refused: %v", err)
		}
		if err := New(nil, Policies{}, slog.New(slog.DiscardHandler)).CheckHalf(alice); err != nil {
			t.Errorf("without a limit: %v", err)
		}
	})
}

// Attack: 10 000 subscriptions owed more for their regular checks than the budget, and the rest was free.
func TestCharge_TellsWhenTheDebtIsAtItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(reads)
		alice, limit := Client{User: 1}, reads.Reads.Limit
		if err := p.Charge(alice, limit, limit); err == nil || errors.Is(err, ErrMaxDebt) {
			t.Errorf("after a whole budget: %v", err)
		}
		if err := p.Charge(alice, limit, limit); err == nil || errors.Is(err, ErrMaxDebt) {
			t.Errorf("after two budgets: %v", err)
		}
		err := p.Charge(alice, 1, 1)
		if _, ok := errors.AsType[*retwis.Error](err); !ok || !errors.Is(err, ErrMaxDebt) {
			t.Errorf("beyond the bound: %v", err)
		}
	})
}

// An operation that was stopped once it had used up the little budget of its client has to end after some tries.
func TestReads_AllowATryToGetFurtherThanTheLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(reads)
		alice := Client{User: 1}
		try := func() error {
			for total := range reads.Reads.Limit * 3 / 4 {
				if err := p.Charge(alice, 1, total+1); err != nil {
					return err
				}
			}
			return nil
		}
		p.Spend(alice, reads.Reads.Limit-1)
		tries := 1
		for err := try(); err != nil; err = try() {
			refused, ok := errors.AsType[*retwis.Error](err)
			if tries++; !ok || tries > 10 {
				t.Fatalf("after %d tries: %v", tries, err)
			}
			time.Sleep(time.Duration(refused.RetryAfterSeconds) * time.Second)
		}
	})
}

// Attack: refusals are free, so many connections ask for many.
func TestDelay_BoundsRefusalsOfAClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(nil, Policies{Reads: Rate{Limit: 100, Period: time.Hour}}, slog.New(slog.DiscardHandler))
		heavy, other := Client{User: 1}, Client{User: 2}
		for _, client := range []Client{heavy, other} {
			_ = l.Charge(client, 100, 100)
		}
		var last time.Duration
		for range 1000 { // at once, on connections of their own
			last = l.Delay(heavy)
		}
		if want := 999 * time.Second / maxRefusals; last < want {
			t.Errorf("1000 refusals in %v, want %v", last, want)
		}
		if wait := l.Delay(other); wait != minDelay {
			t.Errorf("another client waits for %v, want %v", wait, minDelay)
		}
		for range 20_000 {
			last = l.Delay(heavy)
		}
		if last != maxDelay {
			t.Errorf("one of very many waits for %v, want %v", last, maxDelay)
		}
		time.Sleep(2 * maxDelay)
		if wait := l.Delay(heavy); wait != minDelay {
			t.Errorf("the next one waits for %v, want %v", wait, minDelay)
		}
	})
}
