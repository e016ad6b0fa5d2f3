package live

import (
	"iter"
	"slices"

	"retwis/internal/cost"
	"retwis/internal/netpoll"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// yieldEvery is how many subscribers receive an event before the core is left to others.
const yieldEvery = 256

// errTooManyOfUser refuses one more subscription of a user to a timeline. Each event takes time for each of them: 50 000 subscriptions of 50 users took
// longer than the interval between two events.
var errTooManyOfUser = func() error {
	err := retwis.Errorf(retwis.CodeRateLimited,
		"you have too many subscriptions to this timeline: end some of them first, or combine their filters")
	err.RetryAfterSeconds = retryAfter
	return err
}()

// subscribers are the subscribers of a feed. The lock of its partition guards them.
type subscribers struct {
	first    []*subscription
	tails    map[ratelimit.Key]*tail // those of networks that have many among the first, by network; nil until there is one
	users    census[retwis.UserID]
	networks census[ratelimit.Key] // of the first
}

// census counts subscribers while there are many. It is nil while there are few: of these, nobody can have too many.
type census[K comparable] map[K]int

// add counts a subscriber that comes or leaves, if there are many.
func (c census[K]) add(who K, n int) {
	if c == nil {
		return
	}
	if c[who] += n; c[who] == 0 {
		delete(c, who)
	}
}

// countBy returns a census of subscribers.
func countBy[K comparable](who func(*subscription) K, all iter.Seq[*subscription]) census[K] {
	c := census[K]{}
	for s := range all {
		c[who(s)]++
	}
	return c
}

// admits reports whether a client may have one more subscription to the timeline. Anonymous clients have a limit for all their timelines together.
func (l *subscribers) admits(client ratelimit.Client, options Options) bool {
	if options.MaxOfUser < 0 || client.User <= 0 || l.len() < options.MaxOfUser {
		return true
	}
	if l.users == nil {
		l.users = countBy((*subscription).user, l.all())
	}
	return l.users[client.User] < options.MaxOfUser
}

// add adds a subscriber: to the first ones if it may be one of them and its network has few of them, else to the tail of the network.
func (l *subscribers) add(s *subscription, options Options, mayBeFirst bool) {
	l.users.add(s.user(), 1)
	if l.networks == nil && len(l.first) >= options.MaxFirst {
		l.networks = countBy((*subscription).network, slices.Values(l.first))
	}
	if mayBeFirst && l.networks[s.network()] < options.MaxFirst {
		l.networks.add(s.network(), 1)
		s.index = len(l.first)
		l.first = append(l.first, s)
		return
	}
	of := l.tails[s.network()]
	if of == nil {
		if l.tails == nil {
			l.tails = map[ratelimit.Key]*tail{}
		}
		of = &tail{hub: s.hub, network: s.client.OfNetwork()}
		l.tails[s.network()] = of
	}
	of.add(s)
}

// remove removes a subscriber.
func (l *subscribers) remove(s *subscription, options Options) {
	if l.users.add(s.user(), -1); l.len() <= options.MaxOfUser/2 {
		l.users = nil
	}
	if s.tail != nil {
		if s.tail.remove(s); s.tail.len() == 0 {
			delete(l.tails, s.network())
		}
		return
	}
	l.first = removeAt(l.first, s.index)
	if l.networks.add(s.network(), -1); len(l.first) < options.MaxFirst/2 {
		l.networks = nil
	}
}

func (l *subscribers) len() int {
	n := len(l.first)
	for _, t := range l.tails {
		n += t.len()
	}
	return n
}

// all iterates over the subscribers. It holds the lock of a tail while it yields members of it.
func (l *subscribers) all() iter.Seq[*subscription] {
	return func(yield func(*subscription) bool) {
		for _, s := range l.first {
			if !yield(s) {
				return
			}
		}
		for _, t := range l.tails {
			if !t.all(yield) {
				return
			}
		}
	}
}

// client returns a client of whose network all subscribers are, with one who waits to join, or that of several networks.
func (f *feed) client() ratelimit.Client {
	client, found := cost.ForSeveral(), false
	if f.awaited {
		return client
	}
	for s := range f.subscribers.ofEachNetwork() {
		if !found {
			client, found = s.client, true
		} else if s.client.Address != client.Address && cost.NetworkOf(s.client) != cost.NetworkOf(client) {
			return cost.ForSeveral()
		}
	}
	return client
}

// ofEachNetwork iterates over the first subscribers and one member of each tail: the others are of the same network, and may be thousands.
func (l *subscribers) ofEachNetwork() iter.Seq[*subscription] {
	return func(yield func(*subscription) bool) {
		for _, s := range l.first {
			if !yield(s) {
				return
			}
		}
		var one [1]*subscription
		for _, t := range l.tails {
			if n, _ := t.last(1, one[:]); n > 0 && !yield(one[0]) {
				return
			}
		}
	}
}

// visit calls a function for each subscriber: now for the first ones, and after the earlier visits for the others. Those of several networks are visited at
// the same time.
func (l *subscribers) visit(visit func(*subscription)) {
	l.visitFirst(visit)
	for _, t := range l.tails {
		t.visit(visit, 1)
	}
}

// visitFirst calls a function for each of the first subscribers.
func (l *subscribers) visitFirst(visit func(*subscription)) {
	for i, s := range l.first {
		if i%yieldEvery == yieldEvery-1 {
			netpoll.Yield()
		}
		visit(s)
	}
}

func (s *subscription) user() retwis.UserID    { return s.client.User }
func (s *subscription) network() ratelimit.Key { return cost.NetworkOf(s.client) }
