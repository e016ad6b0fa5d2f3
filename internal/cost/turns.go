package cost

import (
	"maps"
	"math"
	"sync"
	"time"

	"retwis/internal/fair"
	"retwis/internal/ratelimit"
)

const (
	restOfUser    = 7                      // times as long as it has worked, a user rests: less work than its network may do, so that others of it need not rest
	restOfNetwork = 3                      // the same for a network
	workPerPoint  = 10 * time.Microsecond  // of what an operation causes later: of a core, and of Redis
	workPerPush   = 3 * time.Microsecond   // of Redis and of a core of a worker, for each follower to whom a post is delivered
	workPerUnit   = 2 * time.Microsecond   // of Redis
	workPerRow    = 800 * time.Nanosecond  // of Redis, those included that scripts visit
	unrested      = 50 * time.Millisecond  // of rest that may be owed without one: the hash of a password is 35 ms of work
	shortestRest  = time.Millisecond       // a timer takes longer than a shorter one
	longestRest   = 100 * time.Millisecond // after one turn: all others of a network rest, too
	mostOwed      = time.Second            // of rest; the remainder is forgotten
	longestLead   = 10 * time.Millisecond  // of work: by no more than this has a user to wait for others of its network that have worked less
	restsKept     = 1024                   // users or networks, above which those are forgotten that owe no rest
)

// turns are the pieces of work that need a core, by user or by network. The pieces of one use half of the cores. While other networks have operations
// or events, one that works all the time also rests several times as long as it has worked, its exchanges with Redis and what workers do for it included.
// So the cores and Redis have time for others at any moment, whatever a network has to do. One that works now and then does not rest.
type turns struct {
	*fair.Gate[ratelimit.Key]
	atOnce, restPerWork int
	networks            *activity

	mu     sync.Mutex
	rested map[ratelimit.Key]time.Time // when a user or network will have rested for all its turns
}

func newTurns(atOnce, restPerWork int, networks *activity) *turns {
	return &turns{
		Gate: fair.NewGate[ratelimit.Key](math.MaxInt, atOnce), atOnce: atOnce, restPerWork: restPerWork, networks: networks,
		rested: map[ratelimit.Key]time.Time{},
	}
}

// end ends a piece of work of a user or network, and lets the next one begin after the rest that is due.
func (t *turns) end(key, network ratelimit.Key, worked time.Duration) {
	if rest := t.restAfter(key, network, worked); rest > 0 {
		time.AfterFunc(rest, func() { t.Release(key, 1) })
		return
	}
	t.Release(key, 1)
}

// owe notes work that is done without turns. The rest for it is after the next turn.
func (t *turns) owe(key ratelimit.Key, work time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at, rests := t.rested[key]; rests {
		t.rested[key] = later(at, time.Now()).Add(time.Duration(1+t.restPerWork) * work)
	}
}

// restAfter returns for how long a user or network has to rest after some work.
func (t *turns) restAfter(key, network ratelimit.Key, worked time.Duration) time.Duration {
	now := time.Now()
	rests := t.networks.beside(network, now) && key != ForSeveral().Key()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !rests {
		delete(t.rested, key)
		return 0
	}
	if len(t.rested) >= restsKept {
		maps.DeleteFunc(t.rested, func(_ ratelimit.Key, at time.Time) bool { return !at.After(now) })
	}
	at := later(t.rested[key], now.Add(-worked)).Add(time.Duration(1+t.restPerWork) * worked / time.Duration(t.atOnce))
	rest := min(at.Sub(now)-unrested, longestRest)
	t.rested[key] = earlier(at, now.Add(mostOwed))
	if rest < shortestRest {
		return 0
	}
	return rest
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
