package cost

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// step is how many points of work beyond the price a meter charges at once.
const step = 50

// ErrResponseTooLarge is the error of an operation whose response exceeds [MaxResponse].
var ErrResponseTooLarge = retwis.Errorf(retwis.CodeTooComplex,
	"the response is larger than %d MB: request smaller pages or fewer fields", MaxResponse>>20)

// Bound bounds the work beyond the price of what does not stop when the budget is used up.
type Bound struct {
	points int
	err    error
}

// OfMutation returns the bound of a mutation.
func OfMutation() Bound { return Bound{MaxUnpaid, errMutationTooLarge} }

// OfSharedEvent returns the bound of an event that is rendered once for several clients.
func OfSharedEvent() Bound { return Bound{maxSharedEvent, errEventTooLarge} }

var (
	errMutationTooLarge = retwis.Errorf(retwis.CodeTooComplex,
		"the mutation was carried out, but its response takes too much work: select fewer fields")
	errEventTooLarge = retwis.Errorf(retwis.CodeTooComplex, "the event takes too much work: select fewer fields")
)

// Options of a [Meter].
type Options struct {
	Client ratelimit.Client
	Price  Price
	Shares *Shares

	// Charge takes points from the budget of the holder after the work was done. It fails if the budget is used up.
	Charge func(points int) error
	// Refund gives points back that were charged before and not used.
	Refund func(points int)
	// Check fails if operations of the holder have used more than its budget.
	Check func() error
	// Bound is set for work that does not stop when the budget is used up. It stops when its work exceeds this bound.
	Bound Bound
}

// Price is what an operation was charged before it runs.
type Price struct {
	Charged int
	Fixed   int // the part that is due whatever the operation does; the rest pays for work, and is given back otherwise
	Covered int // points of work that the fixed part, or another limit, pays for
	Later   int // points of the fixed part that pay for work in workers
}

// Meter accounts for the work of one operation, or of one event of a subscription. Its methods are safe for concurrent use.
type Meter struct {
	client ratelimit.Client
	shares *Shares
	price  Price
	charge func(points int) error
	refund func(points int)
	check  func() error
	bound  Bound
	turn   atomic.Pointer[Turn] // see [Meter.TakeTurn]; nil without one

	mu     sync.Mutex
	next   func() *Turn // waits for the next turn; nil for an operation without turns
	paced  int          // points of work at the last turn
	work   Work
	beyond int      // points charged beyond the price
	owed   int      // points of it for what happens later
	held   int      // bytes in flight
	kept   []func() // release bytes in memory
	closed bool
	err    error
	stop   stop // why err is set
}

// NewMeter returns a meter that has counted nothing.
func NewMeter(o Options) *Meter {
	return &Meter{client: o.Client, shares: o.Shares, price: o.Price, charge: o.Charge, refund: o.Refund, check: o.Check, bound: o.Bound}
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

// ClientOf returns the client of a context. Work for no client counts like work for several.
func ClientOf(ctx context.Context) ratelimit.Client {
	if m := Of(ctx); m != nil {
		return m.client
	}
	return ForSeveral()
}

// Walk counts rows that are about to be walked over without being returned by Redis. It fails if the operation has to stop.
func Walk(ctx context.Context, rows int) error { return Of(ctx).Add(Work{Rows: rows}) }

// Visit counts rows that Redis is about to visit without returning them. The client rests for them. It fails if the operation has to stop.
func Visit(ctx context.Context, rows int) error {
	m := Of(ctx)
	m.oweRows(rows)
	return m.Add(Work{Rows: rows})
}

// oweRows makes the client rest for rows.
func (m *Meter) oweRows(rows int) {
	if m != nil && m.shares != nil && rows > 0 {
		m.shares.owe(m.client, time.Duration(rows)*workPerRow)
	}
}

// Read counts rows that an exchange with Redis has read, or visited there.
func (m *Meter) Read(rows int) {
	m.oweRows(rows)
	_ = m.Add(Work{Rows: rows}) // the next command fails if the operation has to stop
}

// Note counts rows of work that was done where others wait for it to end, so it does not wait for a turn. The client rests afterwards.
func (m *Meter) Note(rows int) {
	if m == nil {
		return
	}
	m.oweRows(rows)
	_, _ = m.count(Work{Rows: rows}) // without budget, the subscription ends with the next charge for events
}

// Add counts work, and charges what exceeds the price. It fails if the operation has to stop; once it has failed, it counts
// nothing more, because the work is not done.
func (m *Meter) Add(w Work) error {
	if m == nil {
		return nil
	}
	next, err := m.count(w)
	if next != nil {
		m.endTurn()
		m.turn.Swap(next()).End() // that of a part of the operation that has waited, too
	}
	return err
}

// count counts work. If the operation has to take another turn, it returns the function that waits for that.
func (m *Meter) count(w Work) (next func() *Turn, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	m.work = m.work.plus(w)
	if due := m.dueLocked(); due >= step {
		m.chargeLocked(due)
	}
	if points := m.work.Points(); points >= max(longWork, m.paced+step) {
		m.paced = points
		next = m.next
	}
	return next, m.err
}

// Rest returns for how long the network of the client has to rest after the work so far, all of which was done without turns.
func (m *Meter) Rest() time.Duration {
	if m.shares == nil {
		return 0
	}
	return m.shares.restAfterCatchUp(NetworkOf(m.client), time.Duration(m.points())*workPerPoint)
}

// Owe charges for what happens after the operation. It never stops the operation. The client rests for it.
func Owe(ctx context.Context, points int) {
	m := Of(ctx)
	m.owe(points)
	if m != nil && m.shares != nil {
		m.shares.owe(m.client, time.Duration(points)*workPerPoint)
	}
}

// OweLists charges for the delivery of a post to lists. The client does not rest for that: others may have put the author on thousands of lists, and
// would slow down all that the author's network does.
func OweLists(ctx context.Context, points int) { Of(ctx).owe(points) }

func (m *Meter) owe(points int) {
	if m == nil || points == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.price.Fixed += points
	m.owed += points
	if due := m.dueLocked(); due > 0 {
		m.chargeLocked(due)
	}
}

// OweFollowers notes that a post is delivered to some followers. Its author does not pay for that, and does not rest, because users follow an author
// because they want to. But the network of the author rests: workers could not keep up with many such authors.
func OweFollowers(ctx context.Context, followers int) {
	if m := Of(ctx); m != nil && m.shares != nil {
		m.shares.oweOfNetwork(m.client, time.Duration(followers)*workPerPush)
	}
}

// dueLocked returns the points of the work that are not charged yet. It is negative if more was charged.
func (m *Meter) dueLocked() int {
	return m.price.Fixed + max(m.work.Points()-m.price.Covered, 0) - m.price.Charged - m.beyond
}

// Written notes that the response has reached a length in bytes. It fails if the operation has to stop.
func (m *Meter) Written(length int) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	more := length - m.work.Bytes
	m.mu.Unlock()
	if length > MaxResponse {
		_ = m.Add(Work{Bytes: more}) // they were written, although the client does not get them
		return m.fail(ErrResponseTooLarge, largeResponse)
	}
	if more <= 0 {
		return m.Err()
	}
	if m.shares != nil && !m.shares.Bytes.try(m.client, more) {
		return m.fail(ErrTooManyBytes(), unreadBytes)
	}
	if m.shares != nil {
		m.mu.Lock()
		m.held += more
		m.mu.Unlock()
	}
	_ = m.Add(Work{Bytes: more})
	return m.Err()
}

// Keep counts bytes that the operation keeps in memory until it ends. It fails if the operation has to stop. What has a [Bound] of its work does not stop
// for others, and the bound is one for its memory, too.
func (m *Meter) Keep(bytes int) error {
	if m == nil || m.shares == nil || m.bound.err != nil {
		return nil
	}
	release, ok := m.shares.Keep(m.client, bytes)
	if !ok {
		return m.fail(ErrTooMuchKept(), keptBytes)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = append(m.kept, release)
	return nil
}

// KeepFilter counts bytes of the filter of a subscription until ctx, that of the subscription, is done. It fails if the filters of the client, of its network
// or of all clients take too much.
func (m *Meter) KeepFilter(ctx context.Context, bytes int) error {
	if m == nil || m.shares == nil || m.shares.KeepFilter(ctx, m.client, bytes) {
		return nil
	}
	err := retwis.Errorf(retwis.CodeRateLimited, "the filters of open subscriptions take too much memory together: end some of them first, or use shorter filters")
	err.RetryAfterSeconds = 1
	return err
}

// ErrTooMuchKept returns the error of a holder whose operations keep too much in memory.
func ErrTooMuchKept() error {
	err := retwis.Errorf(retwis.CodeRateLimited, "the operations that run or wait take too much memory together: wait for their responses, use shorter variables, or select fewer fields")
	err.RetryAfterSeconds = 1
	return err
}

// ErrTooManyBytes returns the error of a holder whose responses wait for their readers.
func ErrTooManyBytes() error {
	err := retwis.Errorf(retwis.CodeRateLimited, "too many responses wait to be read: read them first")
	err.RetryAfterSeconds = 1
	return err
}

// CheckBudget fails if other operations have used up the budget since the price of this one was taken. This one then has to stop. It is called
// after the operation has waited.
func (m *Meter) CheckBudget() error {
	if m.check == nil {
		return nil
	}
	if err := m.check(); err != nil {
		return m.fail(err, noBudget)
	}
	return nil
}

// Plan waits until the execution plan of the operation may be made, like [Shares.Validate]: that hardly pauses either. A small plan does not wait,
// because it would wait for large ones. Plan fails if ctx is done, or like [Meter.CheckBudget]. The returned function has to be called afterwards,
// with the rows that the plan counts for. Without budget, the operation stops later.
func (m *Meter) Plan(ctx context.Context, small bool) (done func(rows int), err error) {
	if m == nil {
		return func(int) {}, nil
	}
	leave := func() {}
	if m.shares != nil && !small {
		m.endTurn()
		if leave, err = m.shares.Validate(ctx, m.client); err != nil {
			return nil, err
		}
	}
	if err := m.CheckBudget(); err != nil {
		leave()
		return nil, err
	}
	return func(rows int) {
		_, _ = m.count(Work{Rows: rows}) // before others of the client go on
		leave()
	}, nil
}

// Compute waits until the server may compute something for the operation beside the reads and the rendering, which wait by themselves. One
// operation of a client does at a time, and all together few: such work never pauses, so it would occupy cores for milliseconds. The returned function has to be called afterwards.
func (m *Meter) Compute(ctx context.Context) (done func(), err error) {
	if m == nil || m.shares == nil {
		return func() {}, nil
	}
	return m.shares.computes.pass(ctx, m.client, 1)
}

func (m *Meter) fail(err error, reason stop) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err, m.stop = err, reason
	}
	return m.err
}

func (m *Meter) chargeLocked(points int) {
	m.beyond += points
	var err error
	if m.charge != nil {
		err = m.charge(points)
	}
	switch {
	case m.err != nil, m.closed:
	case m.bound.err == nil && err != nil:
		m.err, m.stop = err, noBudget
	case m.bound.err != nil && m.beyond-m.owed > m.bound.points:
		m.err, m.stop = m.bound.err, unpaidWork
	}
}

// points returns the work done so far.
func (m *Meter) points() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.work.Points()
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

// Final is the final account of an operation.
type Final struct {
	Work     Work
	Beyond   int // points charged beyond the price
	Refunded int // points of the price that were given back
}

// Close charges the rest of the work, or gives back what was charged too much, and releases the bytes in flight and in memory.
func (m *Meter) Close() Final {
	m.endTurn()
	m.mu.Lock()
	defer m.mu.Unlock()
	due := m.dueLocked()
	final := Final{Work: m.work, Refunded: max(-due, 0)}
	first := !m.closed
	m.closed = true
	if first && due > 0 {
		m.chargeLocked(due)
	}
	if first && due < 0 && m.refund != nil {
		m.refund(-due)
	}
	final.Beyond = m.beyond
	if first && m.shares != nil {
		m.shares.totals.add(final, m.stop)
	}
	if m.held > 0 {
		m.shares.Bytes.release(m.client, m.held)
		m.held = 0
	}
	for _, release := range m.kept {
		release()
	}
	m.kept = nil
	return final
}
