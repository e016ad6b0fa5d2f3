// Package ratelimit counts what clients do, and refuses what exceeds their budget. Budgets
// follow the generic cell rate algorithm (GCRA): of a budget only the time is stored at
// which the whole of it is available again.
//
// Rare actions, such as posting or trying passwords, are counted in the shared store before
// they happen. Reads are counted in the process, and reported to the store only for clients
// that read a lot: a read never waits for the store.
package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"retwis/internal/retwis"
)

// Budget is how much a client may still read.
type Budget struct {
	Rate      Rate
	Remaining int
	Reset     time.Duration // until the whole budget is available again
}

// storeTimeout is how long the store may take to answer.
const storeTimeout = time.Second

// Limiter counts what clients do. Its methods are safe for concurrent use.
type Limiter struct {
	store    Store
	policies Policies
	log      *slog.Logger
	reads    *readLimiter

	storeTimeout time.Duration

	refusals refusals
}

// New returns a limiter. Other processes learn of the reads that it counts only while its
// Run method runs.
func New(store Store, policies Policies, log *slog.Logger) *Limiter {
	return &Limiter{
		store: store, policies: policies, log: log, reads: newReadLimiter(policies.Reads),
		storeTimeout: storeTimeout, refusals: newRefusals(),
	}
}

// Run reports reads to the store until ctx is done.
func (l *Limiter) Run(ctx context.Context) error {
	if l.policies.Reads.Limited() {
		l.reads.run(ctx, func(ctx context.Context, keys []Key) error {
			err := l.report(ctx, keys)
			if err != nil && ctx.Err() == nil {
				l.log.WarnContext(ctx, "rate limits: reporting reads failed", "err", err)
			}
			return err
		})
	}
	return nil
}

// refuse returns the error of a refused action, and counts the refusal.
func (l *Limiter) refuse(action Action, wait time.Duration) error {
	l.refusals[action].Add(1)
	return Exceeded(action, wait)
}

// Check refuses a client whose budget of reads is used up, before any work is done for it.
// The error is RATE_LIMITED.
func (l *Limiter) Check(client Client) error { return l.check(client, 1) }

// CheckDebt refuses a client whose operations have used more than its budget. Its error is RATE_LIMITED. An operation that was counted before, and
// has waited since, does not begin then.
func (l *Limiter) CheckDebt(client Client) error { return l.check(client, 0) }

// CheckHalf refuses a client that has less than half of its budget left. Its error is RATE_LIMITED.
func (l *Limiter) CheckHalf(client Client) error {
	return l.check(client, max(l.policies.Reads.Limit/2, 1))
}

// Affords reports whether a client has more than a hundredth of its budget of reads. One that always uses up what becomes available has some
// points in each moment.
func (l *Limiter) Affords(client Client) bool {
	return !l.policies.Reads.Limited() || l.reads.wait(client.Key(), max(l.policies.Reads.Limit/100, 1)) <= 0
}

// check refuses a client that cannot take a cost.
func (l *Limiter) check(client Client, cost int) error {
	if !l.policies.Reads.Limited() {
		return nil
	}
	if wait := l.reads.wait(client.Key(), cost); wait > 0 {
		return l.refuse(Reads, wait)
	}
	return nil
}

// Delay returns how long a client without budget waits for its next refusal. However many connections it has, it is not
// refused more often than [maxRefusals] per second, unless it would have to wait for longer than 10 seconds.
func (l *Limiter) Delay(client Client) time.Duration { return l.reads.delay(client.Key()) }

// Spend counts work that was done for a request that turned out to be invalid.
func (l *Limiter) Spend(client Client, cost int) {
	if l.policies.Reads.Limited() {
		l.reads.spend(client.Key(), cost)
	}
}

// Charge counts work that an operation did beyond what it was counted for before. If that uses up the budget, the error is
// RATE_LIMITED: the operation has to stop. total is what the operation has cost so far. The client may try again when twice as much
// is available, or the whole budget: if it waited for less, each try could stop where the last one did. The error is an [ErrMaxDebt], too, if
// the client owes so much that not all was counted.
func (l *Limiter) Charge(client Client, cost, total int) error {
	if !l.policies.Reads.Limited() {
		return nil
	}
	full := l.reads.charge(client.Key(), cost)
	if l.reads.wait(client.Key(), 1) <= 0 {
		return nil
	}
	err := l.refuse(Reads, l.reads.wait(client.Key(), 2*total))
	if full {
		err = fmt.Errorf("%w: %w", ErrMaxDebt, err)
	}
	return err
}

// ErrMaxDebt is the error of a client that owes as much as is counted. More work for it would be free.
var ErrMaxDebt = errors.New("the debt is at its bound")

// Refund gives back what an operation was counted for before and did not use.
func (l *Limiter) Refund(client Client, cost int) {
	if l.policies.Reads.Limited() {
		l.reads.refund(client.Key(), cost)
	}
}

// PerRefusal is how much of the price of an operation remains charged if another limit than that of reads refuses it.
const PerRefusal = 250

// Take counts what an operation is about to do, or refuses all of it with RATE_LIMITED. With
// or without an error, it returns how much the client may still read; the zero budget if
// reads have no limit. While the store does not answer, actions that check or set passwords
// fail with [ErrUnavailable], and all others pass.
func (l *Limiter) Take(ctx context.Context, client Client, cost Cost) (Budget, error) {
	var budget Budget
	if l.policies.Reads.Limited() {
		var wait time.Duration
		if budget, wait = l.reads.take(client.Key(), cost.Reads); wait > 0 {
			return budget, l.refuse(Reads, wait)
		}
	}
	err := l.takeShared(ctx, client, cost)
	if err != nil && cost.Reads > PerRefusal {
		l.Refund(client, cost.Reads-PerRefusal)
	}
	return budget, err
}

// takeShared takes what an operation costs in shared budgets, or refuses all of it.
func (l *Limiter) takeShared(ctx context.Context, client Client, cost Cost) error {
	requests := l.requests(client, cost)
	if len(requests) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.storeTimeout)
	defer cancel()
	results, err := l.store.Spend(ctx, requests...)
	var unavailable bool
	for i, result := range results {
		r := requests[i]
		if result.Refused {
			return l.refuse(r.Action, result.Used+r.Cost-r.Rate.Period)
		}
		unavailable = unavailable || result.Unknown && (r.Action == Logins || r.Action == Registrations)
	}
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) { // a client that disconnects is no outage
		l.log.WarnContext(ctx, "rate limits: store unavailable", "err", err)
	}
	if unavailable {
		return ErrUnavailable
	}
	return nil
}

// requests returns what an operation costs in shared budgets.
func (l *Limiter) requests(client Client, cost Cost) []Request {
	var all []Request
	add := func(action Action, rate Rate, key Key, n int) *Request {
		if n == 0 || !rate.Limited() {
			return &Request{}
		}
		all = append(all, Request{Action: action, Key: key, Rate: rate, Cost: rate.Time(n)})
		return &all[len(all)-1]
	}
	network := NetworkOf(client.Address)
	if client.User != 0 {
		user := Key{User: client.User}
		add(Posts, l.policies.Posts, user, cost.Posts)
		add(Likes, l.policies.Likes, user, cost.Likes)
		add(Follows, l.policies.Follows, user, cost.Follows)
		add(Logins, l.policies.Logins, user, cost.Passwords)
	}
	here := Key{Network: network}
	// A registration hashes a password, as a login attempt does.
	add(Logins, l.policies.Logins, here, len(cost.Logins)+cost.Registrations)
	add(Registrations, l.policies.Registrations, here, cost.Registrations)
	for _, name := range cost.Logins {
		if retwis.IsUsername(name) {
			folded := retwis.FoldUsername(name)
			add(Logins, l.policies.Logins, Key{Name: folded}, 1).Familiar = network
		}
	}
	return all
}

// NotRegistered gives back the cost of a registration that created no account.
func (l *Limiter) NotRegistered(ctx context.Context, client Client) {
	rate := l.policies.Registrations
	if !rate.Limited() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.storeTimeout)
	defer cancel()
	_, err := l.store.Spend(ctx, Request{
		Action: Registrations,
		Key:    client.NetworkKey(),
		Rate:   rate,
		Cost:   -rate.Time(1),
	})
	if err != nil {
		l.log.WarnContext(ctx, "rate limits: giving back a failed registration failed", "err", err)
	}
}

// LoggedIn records that a client has logged in with a username: attempts of others no
// longer lock it out.
func (l *Limiter) LoggedIn(ctx context.Context, client Client, name string) {
	if !l.policies.Logins.Limited() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.storeTimeout)
	defer cancel()
	if err := l.store.RememberNetwork(ctx, retwis.FoldUsername(name), NetworkOf(client.Address)); err != nil {
		l.log.WarnContext(ctx, "rate limits: recording a familiar network failed", "err", err)
	}
}

// Budget returns how much a client may still read, by the counts of all processes. It
// returns false if reads have no limit.
func (l *Limiter) Budget(ctx context.Context, client Client) (Budget, bool) {
	if !l.policies.Reads.Limited() {
		return Budget{}, false
	}
	key := client.Key()
	if err := l.report(ctx, []Key{key}); err != nil {
		l.log.WarnContext(ctx, "rate limits: reading the counts of other processes failed", "err", err)
	}
	return l.reads.budget(key), true
}

// report adds the reads counted here to the shared budgets, and takes over what other
// processes have added.
func (l *Limiter) report(ctx context.Context, keys []Key) error {
	requests := make([]Request, len(keys))
	for i, key := range keys {
		requests[i] = Request{
			Action: Reads, Key: key, Rate: l.policies.Reads, Cost: l.reads.begin(key), Done: true,
		}
	}
	ctx, cancel := context.WithTimeout(ctx, l.storeTimeout)
	defer cancel()
	results, err := l.store.Spend(ctx, requests...)
	for i, request := range requests {
		if results[i].Unknown {
			l.reads.failed(request.Key, request.Cost)
		} else {
			l.reads.settle(request.Key, results[i].Used)
		}
	}
	return err
}
