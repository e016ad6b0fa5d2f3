package server

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	floodSize = 100         // connections of a network that are closed in a second without an answer, from which on it is ignored
	floodTime = time.Second // for which it is ignored
	maxFloods = 64          // networks that are ignored at once
)

// floods makes the kernel ignore the attempts to connect of networks that go on although their connections are closed at once. Each
// connection that the process accepts and closes takes it 40 microseconds, so some thousands in a second would slow everybody.
// A client that is ignored tries again a second later, without being told.
type floods struct {
	ignore func([]netip.Prefix) // replaces the networks that the kernel ignores; set before connections are accepted

	mu      sync.Mutex
	closed  map[netip.Prefix]int // connections since the second began
	until   time.Time            // end of that second
	ignored map[netip.Prefix]bool

	total atomic.Int64 // times that a network was ignored
}

func newFloods() *floods {
	return &floods{closed: map[netip.Prefix]int{}, ignored: map[netip.Prefix]bool{}}
}

// note counts a connection of a network that was closed at once.
func (f *floods) note(network netip.Prefix) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.After(f.until) || len(f.closed) == maxNetworks {
		clear(f.closed)
		f.until = now.Add(time.Second)
	}
	f.closed[network]++
	if f.closed[network] < floodSize || f.ignored[network] || len(f.ignored) == maxFloods {
		return
	}
	f.ignored[network] = true
	f.total.Add(1)
	f.replace()
	time.AfterFunc(floodTime, func() { f.end(network) })
}

// end ends the time for which a network is ignored.
func (f *floods) end(network netip.Prefix) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ignored, network)
	delete(f.closed, network)
	f.replace()
}

// replace tells the kernel which networks to ignore.
func (f *floods) replace() { f.ignore(slices.Collect(maps.Keys(f.ignored))) }
