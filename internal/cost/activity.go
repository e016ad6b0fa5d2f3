package cost

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"retwis/internal/ratelimit"
)

const (
	besideOthers  = 10 * time.Second // for as long after an operation or event of another network, a network rests
	activeCounted = 1024             // networks of which a process knows how much they work
)

// Elsewhere is the number of other processes on the same Redis in which a network has operations or events.
type Elsewhere struct {
	Processes int
	OnHost    int // of those on the host of this process, with which it shares the cores
}

// With returns the number with one more process.
func (e Elsewhere) With(onHost bool) Elsewhere {
	e.Processes++
	if onHost {
		e.OnHost++
	}
	return e
}

// activity tells which networks have operations and events, also in other processes on the same Redis. Health checks and pings are none: they do
// not make others rest.
type activity struct {
	mu      sync.Mutex
	last    ratelimit.Key // network of the last operation or event
	lastAt  time.Time     // time of that
	otherAt time.Time     // time of the last one of another network

	joined chan netip.Prefix // those that became active while one other was

	behind bool // workers are behind

	worked    map[ratelimit.Key]time.Duration // by the networks that were active since [Shares.Active]
	elsewhere map[ratelimit.Key]Elsewhere     // other processes in which networks are active

	cores, coresOfHost int // that this process uses, and that there are
}

// note notes that a network has an operation or event.
func (a *activity) note(network ratelimit.Key) {
	if network == ForSeveral().Key() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if network != a.last && time.Since(a.otherAt) > besideOthers && network.Network.IsValid() {
		select {
		case a.joined <- network.Network:
		default: // another one is announced now
		}
	}
	a.noteLocked(network)
	if _, known := a.worked[network]; !known && len(a.worked) < activeCounted {
		if a.worked == nil {
			a.worked = map[ratelimit.Key]time.Duration{}
		}
		a.worked[network] = 0
	}
}

func (a *activity) noteLocked(network ratelimit.Key) {
	if network != a.last {
		a.last, a.otherAt = network, a.lastAt
	}
	a.lastAt = time.Now()
}

// charge counts work of a network. It returns in how many processes the network is active, with this one.
func (a *activity) charge(network ratelimit.Key, work time.Duration) (processes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if before, active := a.worked[network]; active {
		a.worked[network] = before + work
	}
	return 1 + a.elsewhere[network].Processes
}

// onHost returns the work that a network does on the cores of the host while it does some in this process: it may do as much in others there. Processes that
// use different cores do not count.
func (a *activity) onHost(network ratelimit.Key, work time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	processes := 1 + a.elsewhere[network].OnHost
	return max(work, work*time.Duration(processes*a.cores)/time.Duration(a.coresOfHost))
}

// beside reports whether networks other than a given one are active, or will find workers behind when they are.
func (a *activity) beside(network ratelimit.Key, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.lastAt
	if network == a.last {
		at = a.otherAt
	}
	return a.behind || now.Sub(at) <= besideOthers
}

// processesBeside returns in how many processes a network is active, if others are: else 1.
func (a *activity) processesBeside(network ratelimit.Key) int {
	if !a.beside(network, time.Now()) {
		return 1
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return 1 + a.elsewhere[network].Processes
}

// Joined receives networks that have an operation or event while only one other network is active, whose bounds they change. Some may be missing if
// many join at the same moment.
func (s *Shares) Joined() <-chan netip.Prefix { return s.active.joined }

// Note notes that a network has an operation or event in some process on the same Redis.
func (s *Shares) Note(network netip.Prefix) {
	s.active.mu.Lock()
	defer s.active.mu.Unlock()
	s.active.noteLocked(ratelimit.Key{Network: network})
}

// Active returns up to n networks that have had operations or events since the last call: those that caused most work.
func (s *Shares) Active(n int) []netip.Prefix {
	a := s.active
	a.mu.Lock()
	worked := a.worked
	a.worked = nil
	a.mu.Unlock()
	most := slices.SortedFunc(maps.Keys(worked), func(x, y ratelimit.Key) int { return cmp.Compare(worked[y], worked[x]) })
	var networks []netip.Prefix
	for _, key := range most[:min(n, len(most))] {
		if key.Network.IsValid() {
			networks = append(networks, key.Network)
		}
	}
	return networks
}

// SetBehind sets whether workers are behind. Then a network rests although no other one is active: otherwise it could cause work for many minutes.
func (s *Shares) SetBehind(behind bool) {
	s.active.mu.Lock()
	defer s.active.mu.Unlock()
	s.active.behind = behind
}

// SetElsewhere sets in how many other processes on the same Redis each network has operations or events.
func (s *Shares) SetElsewhere(processes map[netip.Prefix]Elsewhere) {
	a := s.active
	a.mu.Lock()
	defer a.mu.Unlock()
	a.elsewhere = make(map[ratelimit.Key]Elsewhere, len(processes))
	for network, n := range processes {
		key := ratelimit.Key{Network: network}
		a.elsewhere[key] = n
		a.noteLocked(key)
	}
}
