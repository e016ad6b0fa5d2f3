package cost

import (
	"context"
	"time"

	"retwis/internal/fair"
	"retwis/internal/ratelimit"
)

// Turn is the right to work that needs nothing but a core for a moment. Work that takes longer than the moment waits for something
// else, and no longer has its turn. The methods of nil, which is no turn, do nothing. A Turn is safe for concurrent use.
type Turn struct {
	late *time.Timer // ends the turn
	end  func()
}

func takeTurn(ctx context.Context, gate *fair.Gate[ratelimit.Key], client ratelimit.Client, longest time.Duration) (*Turn, error) {
	end, err := enter(ctx, gate, client)
	if err != nil {
		return nil, err
	}
	return newTurn(longest, end), nil
}

func newTurn(longest time.Duration, end func()) *Turn {
	return &Turn{late: time.AfterFunc(longest, end), end: end}
}

// enter waits until one more piece of work of the network of a client passes a gate. The returned function has to be called when it is done.
func enter(ctx context.Context, gate *fair.Gate[ratelimit.Key], client ratelimit.Client) (leave func(), err error) {
	network := NetworkOf(client)
	if err := gate.Acquire(ctx, network, 1); err != nil {
		return nil, err //nolint:wrapcheck // ctx is done
	}
	return func() { gate.Release(network, 1) }, nil
}

// End ends the turn, unless it has ended.
func (t *Turn) End() {
	if t != nil && t.late.Stop() {
		t.end()
	}
}

// Write waits until an event stream or a render group of a client may write, or an event may be handed to some of a crowd. An event wakes all those of a timeline. They use half of the cores to
// write, because Go looks for requests that arrive only when a core has nothing else to do. Those of one network take turns with all else that it needs a core for.
// The turn has to end after the write. It fails if ctx is done.
func (s *Shares) Write(ctx context.Context, client ratelimit.Client) (*Turn, error) {
	leaveNetwork, err := enter(ctx, s.turns, client)
	if err != nil {
		return nil, err
	}
	leave, err := enter(ctx, s.writes, client)
	if err != nil {
		leaveNetwork()
		return nil, err
	}
	return newTurn(longTurn, func() {
		leave()
		leaveNetwork()
	}), nil
}

// Hash waits until a password may be hashed for a client, which occupies a core for a tenth of a second. The returned function has to be called
// afterwards. It fails if ctx is done.
func (s *Shares) Hash(ctx context.Context, client ratelimit.Client) (done func(), err error) {
	if m := Of(ctx); m != nil {
		m.endTurn()
	}
	return enter(ctx, s.turns, client)
}

// Decode waits until a message, ping or request of a client may be handled, whatever it turns out to cost. Those of one network use half of the
// cores: thousands may arrive in the same millisecond. The turn has to end when it is decoded and its operation has begun. If the client
// leaves, Decode does not wait, and there is no turn.
func (s *Shares) Decode(ctx context.Context, client ratelimit.Client) *Turn {
	turn, _ := takeTurn(ctx, s.turns, client, longTurn)
	return turn
}

// TakeTurn waits until the operation may begin, beside other operations and messages of its network: see [Shares.Decode]. So thousands of
// operations that need nothing but a core leave one to others. The turn ends when the operation waits for Redis, and with the returned function.
// An operation that has done much work takes a new turn for each part of the rest.
func (m *Meter) TakeTurn(ctx context.Context) (done func()) {
	m.turn.Store(m.shares.Decode(ctx, m.client))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = func() *Turn {
		turn, _ := takeTurn(ctx, m.shares.turns, m.client, longPart)
		return turn
	}
	return m.endTurn
}

func (m *Meter) endTurn() { m.turn.Swap(nil).End() }
