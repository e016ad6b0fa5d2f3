package cost

import (
	"context"
	"maps"
	"math"
	"sync"
	"time"

	"retwis/internal/fair"
	"retwis/internal/ratelimit"
)

const (
	restPerWork  = 3                     // times as long as it has worked, a network rests
	workPerPoint = 10 * time.Microsecond // of what an operation causes later: of a core, and of Redis
	workPerUnit  = 2 * time.Microsecond  // of Redis
	unrested     = 50 * time.Millisecond // of rest that a network may owe: the hash of a password is 35 ms of work
	shortestRest = time.Millisecond      // a timer takes longer than a shorter one
	besideOthers = 10 * time.Second      // for as long after an operation or event of another network, a network rests
	restsKept    = 1024                  // networks, above which those are forgotten that owe no rest
)

// turns are the pieces of work that need a core, by network. The pieces of one network use half of the cores. While other networks have operations or events, a
// network that works all the time also rests three times as long as it has worked, its exchanges with Redis and what workers do for it included. So the
// cores and Redis have time for others at any moment, whatever a network has to do. One that works now and then does not rest.
type turns struct {
	*fair.Gate[ratelimit.Key]
	atOnce int

	mu      sync.Mutex
	last    ratelimit.Key               // network of the last operation or event
	lastAt  time.Time                   // time of that
	otherAt time.Time                   // time of the last one of another network
	rested  map[ratelimit.Key]time.Time // when a network will have rested for all its turns
}

func newTurns(atOnce int) *turns {
	return &turns{Gate: fair.NewGate[ratelimit.Key](math.MaxInt, atOnce), atOnce: atOnce, rested: map[ratelimit.Key]time.Time{}}
}

// acquire waits until a network may begin a piece of work. The returned function has to be called when it is done, with the time that it took.
func (t *turns) acquire(ctx context.Context, network ratelimit.Key) (end func(worked time.Duration), err error) {
	if err := t.Acquire(ctx, network, 1); err != nil {
		return nil, err //nolint:wrapcheck // ctx is done
	}
	return func(worked time.Duration) {
		if rest := t.restAfter(network, worked); rest > 0 {
			time.AfterFunc(rest, func() { t.Release(network, 1) })
			return
		}
		t.Release(network, 1)
	}, nil
}

// owe notes work of a network that is done without turns. It rests after its next turn.
func (t *turns) owe(network ratelimit.Key, work time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at, rests := t.rested[network]; rests {
		t.rested[network] = later(at, time.Now()).Add((1 + restPerWork) * work)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// serve notes that a network has an operation or an event. Health checks and pings are none: they do not make others rest.
func (t *turns) serve(network ratelimit.Key) {
	if network == ForSeveral().Key() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if network != t.last {
		t.last, t.otherAt = network, t.lastAt
	}
	t.lastAt = time.Now()
}

// besideOthersLocked reports whether networks other than a given one have work.
func (t *turns) besideOthersLocked(network ratelimit.Key, now time.Time) bool {
	at := t.lastAt
	if network == t.last {
		at = t.otherAt
	}
	return now.Sub(at) <= besideOthers
}

// restAfter returns for how long a network has to rest after it has worked for some time.
func (t *turns) restAfter(network ratelimit.Key, worked time.Duration) time.Duration {
	if network == ForSeveral().Key() {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if !t.besideOthersLocked(network, now) {
		delete(t.rested, network)
		return 0
	}
	if len(t.rested) >= restsKept {
		maps.DeleteFunc(t.rested, func(_ ratelimit.Key, at time.Time) bool { return !at.After(now) })
	}
	at := later(t.rested[network], now.Add(-worked)).Add((1 + restPerWork) * worked / time.Duration(t.atOnce))
	t.rested[network] = at
	if rest := at.Sub(now) - unrested; rest >= shortestRest {
		return rest
	}
	return 0
}
