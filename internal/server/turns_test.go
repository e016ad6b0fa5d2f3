package server

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/ratelimit"
)

// Attack: two hundred connections are opened at once.
func TestTurns_SpreadTheConnectionsOfANetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		heavy, light := networkNumber(1), networkNumber(2)
		for n := range 200 {
			want := max(0, time.Duration(n+1-readAtOnce)*readEvery)
			if got := turns.next(heavy, readEvery); got != want {
				t.Fatalf("connection %d waits for %v, want %v", n, got, want)
			}
		}
		if got := turns.next(light, readEvery); got != 0 {
			t.Errorf("a connection of another network waits for %v", got)
		}
		time.Sleep(100 * readEvery)
		if got, want := turns.next(heavy, readEvery), (200+1-100-readAtOnce)*readEvery; got != want {
			t.Errorf("after 100 turns, a connection waits for %v, want %v", got, want)
		}
		time.Sleep(time.Second)
		for range readAtOnce {
			if got := turns.next(heavy, readEvery); got != 0 {
				t.Errorf("after all turns, a connection waits for %v", got)
			}
		}
	})
}

func TestTurns_AreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		for n := range uint32(3 * maxNetworks) {
			if n%1000 == 0 {
				time.Sleep(readEvery)
			}
			_ = turns.next(networkNumber(n), readEvery)
		}
		if len(turns.free) > maxNetworks {
			t.Errorf("%d networks have turns", len(turns.free))
		}
	})
}

func networkNumber(n uint32) ratelimit.Key {
	return ratelimit.Key{Network: ratelimit.NetworkOf(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n))))}
}
