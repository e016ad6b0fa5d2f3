package cost

import (
	"context"
	"time"

	"retwis/internal/fair"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Turn is the right to work that needs nothing but a core for a moment. Work that takes longer than the moment waits for something
// else, and no longer has its turn. The methods of nil, which is no turn, do nothing. A Turn is safe for concurrent use.
type Turn struct {
	began time.Time
	late  *time.Timer // ends the turn
	end   func(worked time.Duration)
}

func newTurn(longest time.Duration, end func(worked time.Duration)) *Turn {
	return &Turn{began: time.Now(), late: time.AfterFunc(longest, func() { end(longest) }), end: end}
}

// take waits until work of a client may begin, see [Shares.begin].
func (s *Shares) take(ctx context.Context, client ratelimit.Client, longest time.Duration) (*Turn, error) {
	end, err := s.begin(ctx, client)
	if err != nil {
		return nil, err
	}
	return newTurn(longest, end), nil
}

// begin waits until work of a client may begin: for other work of its user, and then for that of other users of its network, of whom one that has worked
// less goes first. The returned function has to be called when the work is done, with the time that it took.
func (s *Shares) begin(ctx context.Context, client ratelimit.Client) (end func(worked time.Duration), err error) {
	user, network := userAndNetwork(client)
	if user != network {
		if err := s.users.Acquire(ctx, user, 1); err != nil {
			return nil, err //nolint:wrapcheck // ctx is done
		}
	}
	if err := s.turns.AcquireFor(ctx, network, user, 1); err != nil {
		if user != network {
			s.users.Release(user, 1)
		}
		return nil, err //nolint:wrapcheck // ctx is done
	}
	return func(worked time.Duration) {
		s.charge(user, network, worked)
		worked = s.active.onHost(network, worked)
		s.turns.end(network, network, worked)
		if user != network {
			s.users.end(user, network, worked)
		}
	}, nil
}

// owe notes work for a client that is done without turns, in Redis or in workers. All processes in which the network is active have those in common.
func (s *Shares) owe(client ratelimit.Client, work time.Duration) {
	s.oweOfNetwork(client, work)
	if user, network := userAndNetwork(client); user != network {
		s.users.owe(user, work)
	}
}

// oweOfNetwork does the same for the network of a client alone. The user does not rest.
func (s *Shares) oweOfNetwork(client ratelimit.Client, work time.Duration) {
	user, network := userAndNetwork(client)
	processes := s.charge(user, network, work)
	s.turns.owe(network, time.Duration(processes)*work)
}

// restAfterCatchUp returns for how long a network has to rest after some work of a timeline that caught up. Like other work in Redis, it counts for each
// process in which the network is active.
func (s *Shares) restAfterCatchUp(network ratelimit.Key, work time.Duration) time.Duration {
	return s.catchUp.restAfter(network, network, time.Duration(s.active.charge(network, work))*work)
}

// charge counts work of a user, for the order of the users of its network and for what other processes have to know. It returns in how many processes
// the network is active.
func (s *Shares) charge(user, network ratelimit.Key, work time.Duration) (processes int) {
	s.turns.Charge(network, user, int(work), int(longestLead))
	return s.active.charge(network, work)
}

// userAndNetwork returns the key of a client's network, and that of its user there. They are the same for a client that has only one of them.
func userAndNetwork(client ratelimit.Client) (user, network ratelimit.Key) {
	network = NetworkOf(client)
	user = network
	user.User = client.User
	return user, network
}

// Recent reports whether the turn has just begun, and will not end by itself before some more work is done.
func (t *Turn) Recent() bool { return t != nil && time.Since(t.began) < recentTurn }

// End ends the turn, unless it has ended.
func (t *Turn) End() {
	if t != nil && t.late.Stop() {
		t.end(time.Since(t.began))
	}
}

// Write waits until an event stream or a render group of a client may write. An event wakes all those of a timeline. They use half of the cores to
// write, because Go looks for requests that arrive only when a core has nothing else to do. Those of one network take turns with all else that it needs a core for.
// The turn has to end after the write. It fails if ctx is done.
func (s *Shares) Write(ctx context.Context, client ratelimit.Client) (*Turn, error) {
	return s.write(ctx, client, func() {})
}

// HandOver waits like [Shares.Write] until an event may be handed over to some of a crowd. A network may have hundreds of crowds, and one queue of events
// to write. So its crowds have their turns one after the other, and the queue has its turn after each of them.
func (s *Shares) HandOver(ctx context.Context, client ratelimit.Client) (*Turn, error) {
	network := NetworkOf(client)
	if err := s.crowds.Acquire(ctx, network, 1); err != nil {
		return nil, err //nolint:wrapcheck // ctx is done
	}
	return s.write(ctx, client.OfNetwork(), func() { s.crowds.Release(network, 1) })
}

// Replay waits until an event of a replay may be rendered for a client whose render group other networks use, too. The network has a turn of its own
// before it takes what these have in common, and renders as many at a time as it may use cores: live events of others wait for no more than these. The
// returned function has to be called afterwards. Replay fails if ctx is done.
func (s *Shares) Replay(ctx context.Context, client ratelimit.Client) (done func(), err error) {
	network := NetworkOf(client)
	if err := s.replays.Acquire(ctx, network, 1); err != nil {
		return nil, err //nolint:wrapcheck // ctx is done
	}
	turn, err := s.take(ctx, client, longTurn)
	if err != nil {
		s.replays.Release(network, 1)
		return nil, err
	}
	return func() {
		turn.End()
		s.replays.Release(network, 1)
	}, nil
}

// write returns a turn to write, and calls a function when it ends, or at once if there is none.
func (s *Shares) write(ctx context.Context, client ratelimit.Client, after func()) (*Turn, error) {
	network := NetworkOf(client)
	end, err := s.begin(ctx, client)
	if err != nil {
		after()
		return nil, err
	}
	s.active.note(network)
	if err := s.writes.Acquire(ctx, network, 1); err != nil {
		end(0)
		after()
		return nil, err //nolint:wrapcheck // ctx is done
	}
	return newTurn(longTurn, func(worked time.Duration) {
		s.writes.Release(network, 1)
		end(worked)
		after()
	}), nil
}

// Hash waits until a password may be hashed for a client, which occupies a core for a tenth of a second, and takes 19 MB. The returned function has to
// be called afterwards. A network waits for its own turn first, so that others do not wait for its rests. Hash fails with RATE_LIMITED if too many
// passwords wait, of the network or of all, and if ctx is done.
func (s *Shares) Hash(ctx context.Context, client ratelimit.Client) (done func(), err error) {
	EndTurn(ctx)
	network := NetworkOf(client)
	if !s.toHash.Try(network, 1) {
		err := retwis.Errorf(retwis.CodeRateLimited, "too many passwords are being checked: try again in a moment")
		err.RetryAfterSeconds = 1
		return nil, err
	}
	end, err := s.inTurn(ctx, client, s.hashes)
	if err != nil {
		s.toHash.Release(network, 1)
		return nil, err
	}
	return func() {
		end()
		s.toHash.Release(network, 1)
	}, nil
}

// inTurn waits for a turn of a client, and then for a place of its network at a gate. The returned function gives both back.
func (s *Shares) inTurn(ctx context.Context, client ratelimit.Client, gate *fair.Gate[ratelimit.Key]) (done func(), err error) {
	end, err := s.begin(ctx, client)
	if err != nil {
		return nil, err
	}
	network := NetworkOf(client)
	if err := gate.Acquire(ctx, network, 1); err != nil {
		end(0)
		return nil, err //nolint:wrapcheck // ctx is done
	}
	began := time.Now()
	return func() {
		gate.Release(network, 1)
		end(time.Since(began))
	}, nil
}

// Compress waits until a part of a text may be compressed for a client. That takes a compressor of 1.2 MB, and waits for nothing: as many as half of the
// cores are in use. The returned function has to be called afterwards. A network waits for its own turn first, so that others do not wait for its
// rests. Compress fails if ctx is done.
func (s *Shares) Compress(ctx context.Context, client ratelimit.Client) (done func(), err error) {
	return s.inTurn(ctx, client, s.deflate)
}

// CompressShort is like [Shares.Compress] for a text that is too short to need a turn.
func (s *Shares) CompressShort(ctx context.Context, client ratelimit.Client) (done func(), err error) {
	network := NetworkOf(client)
	if err := s.deflate.Acquire(ctx, network, 1); err != nil {
		return nil, err //nolint:wrapcheck // ctx is done
	}
	return func() { s.deflate.Release(network, 1) }, nil
}

// Decode waits until a message, ping or request of a client may be handled, whatever it turns out to cost. Those of one network use half of the
// cores: thousands may arrive in the same millisecond. The turn has to end when it is decoded and its operation has begun. If the client
// leaves, Decode does not wait, and there is no turn.
func (s *Shares) Decode(ctx context.Context, client ratelimit.Client) *Turn {
	return s.DecodeLong(ctx, client, 0)
}

// DecodeLong is like [Shares.Decode] for a request or message of some bytes: a turn for as long as it takes to decode them.
func (s *Shares) DecodeLong(ctx context.Context, client ratelimit.Client, bytes int) *Turn {
	turn, _ := s.take(ctx, client, longTurn+time.Duration(bytes)*decodeByte)
	return turn
}

// TakeTurn waits until the operation may begin, beside other operations and messages of its network: see [Shares.Decode]. So thousands of
// operations that need nothing but a core leave one to others. The turn ends when the operation waits, for Redis or for other keys of a batch, and with
// the returned function. An operation that has done much work takes a new turn for each part of the rest.
func (m *Meter) TakeTurn(ctx context.Context) (done func()) {
	m.turn.Store(m.shares.Decode(ctx, m.client))
	m.shares.active.note(NetworkOf(m.client))
	if m.price.Later > 0 {
		m.shares.owe(m.client, time.Duration(m.price.Later)*workPerPoint)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = func() *Turn {
		turn, _ := m.shares.take(ctx, m.client, longPart)
		return turn
	}
	return m.endTurn
}

// ComputeTurn waits for a turn in which the operation of ctx computes something for up to a millisecond or two. Other parts of the operation do not end
// it when they begin to wait, as they end that of the operation. The returned function ends it. The operation has no turn afterwards.
func ComputeTurn(ctx context.Context) (done func(), err error) {
	m := Of(ctx)
	if m == nil || m.shares == nil {
		return func() {}, nil
	}
	m.endTurn()
	turn, err := m.shares.take(ctx, m.client, longPart)
	if err != nil {
		return nil, err
	}
	return turn.End, nil
}

// EndTurn ends the turn of the operation of ctx, or that of [WithTurn], because its work begins to wait.
func EndTurn(ctx context.Context) {
	if m := Of(ctx); m != nil {
		m.endTurn()
	}
	if t, ok := ctx.Value(turnKey{}).(*Turn); ok {
		t.End()
	}
}

type turnKey struct{}

// WithTurn returns a context of work that has a turn before there is a meter.
func WithTurn(ctx context.Context, t *Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

func (m *Meter) endTurn() { m.turn.Swap(nil).End() }
