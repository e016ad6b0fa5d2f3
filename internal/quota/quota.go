// Package quota counts what clients do, and refuses what is too much.
//
// What is done rarely and must not be done often, like posting or trying passwords, is
// counted in the store before it is done. What is read is counted in this process first,
// and written down in the store only by clients that read a lot: a read waits for nothing.
package quota

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"retwis/internal/retwis"
)

// Store keeps the budgets that all processes share.
type Store interface {
	// Charge answers in the order of the charges. The error is why balances are unknown.
	Charge(ctx context.Context, charges ...retwis.Charge) ([]retwis.Balance, error)
	// Familiarize notes that a name was logged in with from a network.
	Familiarize(ctx context.Context, name string, from netip.Prefix) error
}

// Rates are how often things may be done; the zero rate has no limit.
type Rates struct {
	Reads         retwis.Rate // cost of operations, of a user, or of the nobodies of a network
	Posts         retwis.Rate // of a user
	Follows       retwis.Rate // of a user, lists' members included
	Logins        retwis.Rate // passwords tried, from a network, and for a name
	Registrations retwis.Rate // from a network
}

// List returns the rates of all actions.
func (r Rates) List() []retwis.ActionRate {
	return []retwis.ActionRate{
		{Action: retwis.ToRead, Rate: r.Reads},
		{Action: retwis.ToPost, Rate: r.Posts},
		{Action: retwis.ToFollow, Rate: r.Follows},
		{Action: retwis.ToLogIn, Rate: r.Logins},
		{Action: retwis.ToRegister, Rate: r.Registrations},
	}
}

// DefaultRates are enough for everything that people do by hand.
func DefaultRates() Rates {
	return Rates{
		Reads:         retwis.Rate{Limit: 120_000, Period: time.Minute},
		Posts:         retwis.Rate{Limit: 60, Period: time.Minute},
		Follows:       retwis.Rate{Limit: 120, Period: time.Minute},
		Logins:        retwis.Rate{Limit: 10, Period: time.Minute},
		Registrations: retwis.Rate{Limit: 5, Period: time.Hour},
	}
}

// storeTime is how long the store may take to answer, outside tests of what it answers.
const storeTime = time.Second

// Quotas count what clients do. The methods may be called at the same time.
type Quotas struct {
	store  Store
	rates  Rates
	log    *slog.Logger
	ledger *ledger

	storeTime time.Duration // that the store may take to answer

	refusals refusals
}

// New returns quotas; without Run no other process hears of what is read here.
func New(store Store, rates Rates, log *slog.Logger) *Quotas {
	return &Quotas{store: store, rates: rates, log: log, ledger: newLedger(rates.Reads), storeTime: storeTime, refusals: newRefusals()}
}

// Run writes down in the store what is read, until ctx is done.
func (q *Quotas) Run(ctx context.Context) error {
	if q.rates.Reads.Limits() {
		q.ledger.run(ctx, func(ctx context.Context, readers []retwis.Holder) error {
			err := q.report(ctx, readers)
			if err != nil && ctx.Err() == nil {
				q.log.WarnContext(ctx, "what was read could not be written down", "err", err)
			}
			return err
		})
	}
	return nil
}

// refuse returns the error that says what there was too much of.
func (q *Quotas) refuse(action retwis.Action, wait time.Duration) error {
	q.refusals[action].Add(1)
	return retwis.TooMany(action, wait)
}

// Check refuses a client that has nothing left at all, before work is put into reading
// what it wants. The error is RATE_LIMITED.
func (q *Quotas) Check(client retwis.Client) error {
	if !q.rates.Reads.Limits() {
		return nil
	}
	if wait := q.ledger.wait(client.Holder()); wait > 0 {
		return q.refuse(retwis.ToRead, wait)
	}
	return nil
}

// Spend counts work that was done for a client in vain.
func (q *Quotas) Spend(client retwis.Client, cost int) {
	if q.rates.Reads.Limits() {
		q.ledger.spend(client.Holder(), cost)
	}
}

// Take counts what an operation is about to do, or refuses all of it with RATE_LIMITED. It
// tells the transport what is left to read. Where the store does not answer, passwords are
// not looked at, and everything else may be done.
func (q *Quotas) Take(ctx context.Context, client retwis.Client, demand retwis.Demand) error {
	if q.rates.Reads.Limits() {
		left, wait := q.ledger.take(client.Holder(), demand.Cost)
		retwis.TellAllowance(ctx, left)
		if wait > 0 {
			return q.refuse(retwis.ToRead, wait)
		}
	}
	charges := q.charges(client, demand)
	if len(charges) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, q.storeTime)
	defer cancel()
	balances, err := q.store.Charge(ctx, charges...)
	var blind bool
	for i, balance := range balances {
		c := charges[i]
		if balance.Refused {
			return q.refuse(c.Action, balance.Used+c.Time-c.Rate.Period)
		}
		blind = blind || balance.Unknown && (c.Action == retwis.ToLogIn || c.Action == retwis.ToRegister)
	}
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) { // a client that leaves is no outage
		q.log.WarnContext(ctx, "rate limits could not be read", "err", err)
	}
	if blind {
		return retwis.ErrLimitsUnknown
	}
	return nil
}

// charges returns what an operation is charged in the store.
func (q *Quotas) charges(client retwis.Client, demand retwis.Demand) []retwis.Charge {
	var all []retwis.Charge
	add := func(action retwis.Action, rate retwis.Rate, who retwis.Holder, n int) *retwis.Charge {
		if n == 0 || !rate.Limits() {
			return &retwis.Charge{}
		}
		all = append(all, retwis.Charge{Action: action, Who: who, Rate: rate, Time: rate.Time(n)})
		return &all[len(all)-1]
	}
	network := retwis.NetworkOf(client.Address)
	if client.User != 0 {
		user := retwis.Holder{User: client.User}
		add(retwis.ToPost, q.rates.Posts, user, demand.Posts)
		add(retwis.ToFollow, q.rates.Follows, user, demand.Follows)
		add(retwis.ToLogIn, q.rates.Logins, user, demand.Passwords)
	}
	here := retwis.Holder{Network: network}
	// A registration hashes a password, as an attempt to log in does.
	add(retwis.ToLogIn, q.rates.Logins, here, len(demand.Logins)+demand.Registrations)
	add(retwis.ToRegister, q.rates.Registrations, here, demand.Registrations)
	for _, name := range demand.Logins {
		if retwis.IsUsername(name) {
			folded := retwis.FoldUsername(name)
			add(retwis.ToLogIn, q.rates.Logins, retwis.Holder{Name: folded}, 1).Familiar = network
		}
	}
	return all
}

// NotRegistered gives back what a registration was charged that made no account.
func (q *Quotas) NotRegistered(ctx context.Context, client retwis.Client) {
	rate := q.rates.Registrations
	if !rate.Limits() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.storeTime)
	defer cancel()
	_, err := q.store.Charge(ctx, retwis.Charge{
		Action: retwis.ToRegister,
		Who:    retwis.Holder{Network: retwis.NetworkOf(client.Address)},
		Rate:   rate,
		Time:   -rate.Time(1),
	})
	if err != nil {
		q.log.WarnContext(ctx, "a registration that failed stays counted", "err", err)
	}
}

// LoggedIn notes that a client has logged in with a name: attempts of others do not lock
// it out.
func (q *Quotas) LoggedIn(ctx context.Context, client retwis.Client, name string) {
	if !q.rates.Logins.Limits() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.storeTime)
	defer cancel()
	if err := q.store.Familiarize(ctx, retwis.FoldUsername(name), retwis.NetworkOf(client.Address)); err != nil {
		q.log.WarnContext(ctx, "a login is not remembered", "err", err)
	}
}

// Allowance returns how much a client may still read, by what all processes have counted.
// It reports false where there is no limit.
func (q *Quotas) Allowance(ctx context.Context, client retwis.Client) (retwis.Allowance, bool) {
	if !q.rates.Reads.Limits() {
		return retwis.Allowance{}, false
	}
	who := client.Holder()
	if err := q.report(ctx, []retwis.Holder{who}); err != nil {
		q.log.WarnContext(ctx, "what was read elsewhere is not known", "err", err)
	}
	return q.ledger.allowance(who), true
}

// report writes down what some have read here, and takes over what they have read
// elsewhere.
func (q *Quotas) report(ctx context.Context, readers []retwis.Holder) error {
	charges := make([]retwis.Charge, len(readers))
	for i, who := range readers {
		charges[i] = retwis.Charge{
			Action: retwis.ToRead, Who: who, Rate: q.rates.Reads, Time: q.ledger.begin(who), Done: true,
		}
	}
	ctx, cancel := context.WithTimeout(ctx, q.storeTime)
	defer cancel()
	balances, err := q.store.Charge(ctx, charges...)
	for i, charge := range charges {
		if balances[i].Unknown {
			q.ledger.failed(charge.Who, charge.Time)
		} else {
			q.ledger.settle(charge.Who, balances[i].Used)
		}
	}
	return err
}
