package server

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestFloods_IgnoreANetworkForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var last []netip.Prefix
		f := newFloods()
		f.ignore = func(networks []netip.Prefix) { last = networks }
		want := func(when string, networks ...netip.Prefix) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if !slices.Equal(last, networks) {
				t.Errorf("%s: %v are ignored, want %v", when, last, networks)
			}
		}
		flood, other := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/64")
		for range floodSize - 1 {
			f.note(flood)
			f.note(other)
		}
		time.Sleep(time.Second + 1)
		f.note(other)
		want("below the rate")
		for range 2 * floodSize {
			f.note(flood)
		}
		want("above it", flood)
		time.Sleep(floodTime + 1)
		synctest.Wait()
		want("a second later")
	})
}

// Attack: connections from very many networks.
func TestFloods_HaveBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		most := 0
		f := newFloods()
		f.ignore = func(networks []netip.Prefix) { most = max(most, len(networks)) }
		for i := range 2 * maxNetworks {
			network := netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.%d/32", i>>16, i>>8&255, i&255))
			for range max(1, min(floodSize, floodSize*(2*maxFloods-i))) {
				f.note(network)
			}
		}
		time.Sleep(floodTime + 1)
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		if most != maxFloods || len(f.closed) > maxNetworks {
			t.Errorf("%d networks were ignored at once, and %d are counted", most, len(f.closed))
		}
	})
}
