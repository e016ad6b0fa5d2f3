package cost

import (
	"context"
	"sync"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// step is how many points of work beyond the price a meter charges at once.
const step = 50

// ErrResponseTooLarge is the error of an operation whose response exceeds [MaxResponse].
var ErrResponseTooLarge = retwis.Errorf(retwis.CodeTooComplex,
	"the response is larger than %d MB: request smaller pages or fewer fields", MaxResponse>>20)

// Options of a [Meter].
type Options struct {
	Holder ratelimit.Key
	Price  int // charged before
	Shares *Shares

	// Charge takes points from the budget of the holder after the work was done. It fails if the budget is used up.
	Charge func(points int) error
	// NeverStops is set for an operation that is not stopped when the budget is used up: it has changed something.
	NeverStops bool
}

// Meter accounts for the work of one operation, or of one event of a subscription. Its methods are safe for concurrent use.
type Meter struct {
	holder     ratelimit.Key
	shares     *Shares
	charge     func(points int) error
	neverStops bool

	mu      sync.Mutex
	price   int
	work    Work
	charged int // beyond the price
	held    int // bytes in flight
	err     error
}

// NewMeter returns a meter that has counted nothing.
func NewMeter(o Options) *Meter {
	return &Meter{holder: o.Holder, shares: o.Shares, charge: o.Charge, neverStops: o.NeverStops, price: o.Price}
}

type contextKey struct{}

// With returns a context whose work a meter counts. The meter travels in the context, as traces do, because only the driver
// of Redis sees all commands, and the context is its only link between a command and its operation.
func With(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, contextKey{}, m)
}

// Of returns the meter of a context, or nil.
func Of(ctx context.Context) *Meter {
	m, _ := ctx.Value(contextKey{}).(*Meter)
	return m
}

// Walk counts rows that a script is about to walk over without returning them. It fails if the operation has to stop.
func Walk(ctx context.Context, rows int) error { return Of(ctx).Add(Work{Rows: rows}) }

// Add counts work, and charges what exceeds the price. It fails if the operation has to stop; once it has failed, it counts
// nothing more, because the work is not done.
func (m *Meter) Add(w Work) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil && !m.neverStops {
		return m.err
	}
	m.work = m.work.plus(w)
	if beyond := m.work.Points() - m.price - m.charged; beyond >= step {
		m.chargeLocked(beyond)
	}
	if m.neverStops {
		return nil
	}
	return m.err
}

// Written notes that the response has reached a length in bytes. It fails if the operation has to stop.
func (m *Meter) Written(length int) error {
	if m == nil {
		return nil
	}
	if length > MaxResponse {
		return m.fail(ErrResponseTooLarge)
	}
	m.mu.Lock()
	more := length - m.work.Bytes
	m.mu.Unlock()
	if more <= 0 {
		return m.Err()
	}
	if m.shares != nil && !m.shares.Bytes.Try(m.holder, more) {
		return m.fail(ErrTooManyBytes())
	}
	if m.shares != nil {
		m.mu.Lock()
		m.held += more
		m.mu.Unlock()
	}
	_ = m.Add(Work{Bytes: more})
	return m.Err()
}

// ErrTooManyBytes returns the error of a holder whose responses wait for their readers.
func ErrTooManyBytes() error {
	err := retwis.Errorf(retwis.CodeRateLimited, "too many responses wait to be read: read them first")
	err.RetryAfterSeconds = 1
	return err
}

func (m *Meter) fail(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
	}
	return m.err
}

func (m *Meter) chargeLocked(points int) {
	m.charged += points
	if m.charge == nil {
		return
	}
	if err := m.charge(points); err != nil && m.err == nil && !m.neverStops {
		m.err = err
	}
}

// Err returns why the operation has to stop, or nil.
func (m *Meter) Err() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Close charges the rest of the work, and gives back the bytes in flight. It returns what was counted, and the points
// charged beyond the price.
func (m *Meter) Close() (work Work, beyond int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if rest := m.work.Points() - m.price - m.charged; rest > 0 {
		m.chargeLocked(rest)
	}
	if m.held > 0 {
		m.shares.release(m.holder, m.held)
		m.held = 0
	}
	return m.work, m.charged
}
