package broadcast

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// maxPending is how many live events of one subscription may wait to be rendered.
const maxPending = 1024

// Recipient is the connection's side of a subscription.
type Recipient interface {
	// Emit sends an event, without waiting. If more is true, another event or the end follows immediately, and the write
	// may be deferred.
	Emit(event *Rendered, cursor retwis.Cursor, more bool)
	// Room returns nil if the reader has room for more, else a channel that is closed when it has.
	Room() <-chan struct{}
	// Price returns what it costs to emit an event of some bytes, as a number of bytes that were made once and are sent to many.
	Price(bytes int, more bool) int
	// Stop ends the source of the subscription, which calls Ended.
	Stop()
	// Failed ends a subscription whose events cannot be rendered.
	Failed(err error)
	// Ended is the last call. The reason is nil when the reader ended the subscription.
	Ended(reason error)
}

// Member is one subscription of a render group. It is the sink between the source of the
// events and a connection. Its events wait in a render queue of the group, in order.
type Member struct {
	// The fields that an event uses come first: with thousands of members the processor's caches hold none of them.
	group   *group
	queue   *queue
	lane    *lane    // of the client
	network *network // of the client, in the queue
	to      Recipient
	limited atomic.Pointer[error]           // set: the client has no budget left, and the subscription ends
	filter  func(retwis.Event) retwis.Event // nil without one
	pending atomic.Int32
	unpaid  int // bytes sent since the last charge

	client ratelimit.Client
	number int   // among the members of the client
	reason error // why the source ended the subscription, once it has
}

// Withdraw undoes Join for a subscription that could not start. If it started, End leaves the group.
func (m *Member) Withdraw() { m.group.leave(m.client) }

// Operation returns an operation of the group.
func (m *Member) Operation() *graphql.OperationContext { return m.group.op.Load() }

// FilterBy implements [retwis.Sink].
func (m *Member) FilterBy(apply func(retwis.Event) retwis.Event) { m.filter = apply }

// filtered returns the event to send in place of an event, or nil.
func (m *Member) filtered(e retwis.Event) retwis.Event {
	if m.filter == nil {
		return e
	}
	return m.filter(e)
}

// Take implements [retwis.Sink].
func (m *Member) Take(e retwis.Event) bool {
	return m.pending.Add(1) <= maxPending && m.queue.push(queued{to: m, event: e})
}

// Room implements [retwis.Sink].
func (m *Member) Room() <-chan struct{} { return m.to.Room() }

// Replay implements [retwis.Sink]. The caller has a goroutine for the replay, so it renders
// at once. A filter takes time for events that nobody receives, so a client without budget gets no further.
func (m *Member) Replay(ctx context.Context, e retwis.Event) {
	if m.filter != nil {
		if err := m.group.groups.runner.Executor.Check(m.client); err != nil {
			m.limit(err)
		}
	}
	if m.limited.Load() != nil {
		return
	}
	if e = m.filtered(e); e == nil {
		return
	}
	if room := m.to.Room(); room != nil {
		select {
		case <-room:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil || m.limited.Load() != nil {
		return
	}
	done, err := m.group.takeReplay(ctx, m.client)
	if err != nil {
		return
	}
	rendered, err := m.group.render(ctx, e, m.client)
	done()
	if errors.Is(err, errLeft) {
		return
	}
	m.send(rendered, err, e.EventCursor(), false)
}

// End implements [retwis.Sink].
func (m *Member) End(reason error) {
	m.reason = reason
	m.queue.push(queued{to: m})
}

// errRateLimited matches all errors with its code.
var errRateLimited = &retwis.Error{Code: retwis.CodeRateLimited}

// ended passes on the end of the subscription. The client resumes after its last event.
func (m *Member) ended() {
	m.group.leave(m.client)
	reason := m.reason
	if limited := m.limited.Load(); limited != nil {
		reason = *limited
	}
	m.to.Ended(reason)
}

func (m *Member) send(rendered *Rendered, err error, cursor retwis.Cursor, more bool) {
	if err == nil {
		err = cmp.Or(rendered.failure, m.group.limitOf(m))
	}
	switch {
	case errors.Is(err, errRateLimited):
		m.limit(err)
		return
	case err != nil:
		m.to.Failed(err)
		return
	}
	m.group.groups.counts.deliveries.Add(1)
	m.to.Emit(rendered, cursor, more)
	m.pay(m.to.Price(rendered.Len(string(cursor)), more))
}

// pay charges the client for the bytes of an event. A subscription without budget ends.
func (m *Member) pay(bytes int) {
	m.unpaid += bytes
	points := m.unpaid / cost.SharedBytesPerPoint
	if points == 0 {
		return
	}
	m.unpaid %= cost.SharedBytesPerPoint
	if err := m.group.groups.runner.Executor.Charge(m.client, points); err != nil {
		m.limit(err)
	}
}

// limit ends the subscription of a client without budget.
func (m *Member) limit(err error) {
	if m.limited.CompareAndSwap(nil, &err) {
		m.to.Stop()
	}
}
