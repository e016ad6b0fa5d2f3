package fanout

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

const (
	roundsPerMaster = 2                      // rounds that run at a time: with more, somebody whose entry arrives waits for more of them, and for more in Redis
	turnWait        = 250 * time.Millisecond // for the rounds of others; one that waits for a master which does not answer must not stop them all
	announceRest    = 50 * time.Microsecond  // pause of deletions for each watched timeline to which one was announced
	visitRest       = 5 * time.Microsecond   // the same for each follower, list or watched timeline that was looked at
	restBurst       = 50 * time.Millisecond  // of pauses that are not made: for a thousand watched timelines
	announceFor     = 10 * time.Second       // after which a deletion is no longer announced: all entries behind it stay in the outbox until it is done
)

// turns is the order of entries for all outboxes of a worker: those of networks that were served least recently are served first, so that hundreds of
// users of one network have no more turns than one of another. So are those of the users of a network. A few rounds run at a time, the
// others wait. One that begins takes the entries that are there then, so that somebody's only entry waits for the rounds that run, not for those of all
// outboxes.
type turns struct {
	mu       sync.Mutex
	served   int                   // how often entries were served: their tasks have begun, or a round had calls for them
	networks map[string]int        // the number of the last one, by the network that caused it
	users    map[retwis.UserID]int // the same by the user
	limit    int                   // rounds that may run
	running  int
	waiting  []*turn
	searched map[searcher]float64 // how many lists are searched for each timeline that receives a post, on average
	restEnds map[string]time.Time // when deletions and reposts have paused for all that they owe, that of a burst included, by the network that caused them
}

func newTurns() *turns {
	return &turns{networks: map[string]int{}, users: map[retwis.UserID]int{}, limit: roundsPerMaster, searched: map[searcher]float64{}, restEnds: map[string]time.Time{}}
}

// setMasters changes how many rounds may run.
func (t *turns) setMasters(masters int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = roundsPerMaster * max(masters, 1)
	t.grant()
}

// place tells when the network and the user of an entry were served last.
type place struct{ network, user int }

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.network, other.network), cmp.Compare(p.user, other.user))
}

// first returns the n entries of which the turns come first, in their order. Thousands may wait, so it sorts no others.
func (t *turns) first(entries []*workItem, n int) []*workItem {
	t.mu.Lock()
	for _, w := range entries {
		w.turn = place{t.networks[w.actor.Network], t.users[w.actor.User]}
	}
	t.mu.Unlock()
	found := make([]*workItem, 0, n+1)
	for _, w := range entries {
		if len(found) == n && found[n-1].turn.compare(w.turn) <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(found, w, func(other, w *workItem) int {
			return cmp.Or(other.turn.compare(w.turn), -1) // behind those with the same turn
		})
		found = slices.Insert(found, at, w)
		found = found[:min(len(found), n)]
	}
	return found
}

// serve notes that an entry has its turn.
func (t *turns) serve(w *workItem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.served++
	t.networks[w.actor.Network], t.users[w.actor.User] = t.served, t.served
}

// searcher is who causes searches of lists: a network with its posts or with its reposts.
type searcher struct {
	network string
	reposts bool
}

func searcherOf(w *workItem) searcher { return searcher{w.actor.Network, w.Reposted != 0} }

// noteSearches notes how many lists a call for a post has searched. Watched homes are searched for the post of a repost, and those that were rebuilt for
// one that waited meanwhile, each in the time of many pushes. No worker knows beforehand how many are; those of a network's followers mostly are, or are not.
func (t *turns) noteSearches(w *workItem, result outbox.Result) {
	const part = 4
	if w.isDeletion() || result.Served == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.searched[searcherOf(w)]
	t.searched[searcherOf(w)] = before + (float64(result.Searched)/float64(result.Served)-before)/part
}

// searches returns how many lists a call for an entry probably searches for each timeline.
func (t *turns) searches(w *workItem) float64 {
	if w.isDeletion() {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.searched[searcherOf(w)]
}

// rest makes deletions and reposts that a network caused pause. Deletions were announced to watched timelines: all outboxes together announce 20 000 a
// second. An account may have a thousand posts on thousands of watched timelines, and each announcement causes an event. Readers do not depend on it:
// the post cannot be read. For reposts, lists were searched: see [Load.RestAfterSearches].
func (t *turns) rest(network string, pause time.Duration) {
	if pause == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.restEnds[network] = later(t.restEnds[network], time.Now()).Add(pause)
}

// perMaster returns the pause after work at one master, while others have work at the other ones.
func (t *turns) perMaster(pause time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return pause * roundsPerMaster / time.Duration(t.limit)
}

// restsUntil returns when the next deletions or reposts that a network caused may be delivered.
func (t *turns) restsUntil(network string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.restEnds[network].Add(-restBurst)
}

// forget bounds what is remembered of those without entries. It forgets none who was served after somebody who waits with one of the entries in memory.
func (t *turns) forget(entries int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	keep := window + entries
	now := time.Now()
	if len(t.restEnds) > 2*keep {
		maps.DeleteFunc(t.restEnds, func(_ string, at time.Time) bool { return at.Before(now) })
	}
	if len(t.users) > 2*keep || len(t.networks) > 2*keep {
		maps.DeleteFunc(t.users, func(_ retwis.UserID, served int) bool { return served <= t.served-keep })
		maps.DeleteFunc(t.networks, func(_ string, served int) bool { return served <= t.served-keep })
		maps.DeleteFunc(t.searched, func(by searcher, _ float64) bool { return t.networks[by.network] == 0 })
	}
}

// grant lets waiting rounds begin. The caller holds the lock.
func (t *turns) grant() {
	for t.running < t.limit && len(t.waiting) > 0 {
		next := slices.MinFunc(t.waiting, func(a, b *turn) int { return a.first.compare(b.first) })
		t.waiting = slices.DeleteFunc(t.waiting, func(other *turn) bool { return other == next })
		t.running++
		next.state = turnGranted
		next.begins <- struct{}{}
	}
}

// turn is the permission of one outbox to run a round. Only the runner of the outbox calls its methods.
type turn struct {
	of     *turns
	begins chan struct{} // receives when it is granted

	// The lock of turns guards these.
	state turnState
	first place     // of the first entry of the round
	since time.Time // begin of the wait
}

type turnState int

const (
	turnUnused turnState = iota
	turnWaiting
	turnGranted
)

func (t *turns) newTurn() *turn { return &turn{of: t, begins: make(chan struct{}, 1)} }

// begin reports whether a round may run that begins with an entry, and asks for that if not. Call it again when begins receives, and when
// entries have arrived.
func (t *turn) begin(first *workItem) bool {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	t.first = first.turn
	switch {
	case t.state == turnUnused:
		t.state, t.since = turnWaiting, time.Now()
		t.of.waiting = append(t.of.waiting, t)
		t.of.grant()
	case t.state == turnWaiting && time.Since(t.since) >= turnWait:
		t.leave()
		t.of.running++
		t.state = turnGranted
	}
	return t.state == turnGranted
}

// end ends a round, or the wait for it.
func (t *turn) end() {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	switch t.state {
	case turnWaiting:
		t.leave()
	case turnGranted:
		t.of.running--
		t.of.grant()
	}
	t.state = turnUnused
	select {
	case <-t.begins:
	default:
	}
}

// leave ends the wait. The caller holds the lock.
func (t *turn) leave() {
	t.of.waiting = slices.DeleteFunc(t.of.waiting, func(other *turn) bool { return other == t })
}

// waitsUntil returns when the round begins in any case, and false if it does not wait.
func (t *turn) waitsUntil() (time.Time, bool) {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	return t.since.Add(turnWait), t.state == turnWaiting
}
