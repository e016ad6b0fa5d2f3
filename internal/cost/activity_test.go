package cost

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/ratelimit"
)

// Attack: an address used four processes on one Redis, had the bounds of four there, and did not rest in those of which nobody else had an operation.
func TestShares_ANetworkSharesRedisWithItselfElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		read := func(client ratelimit.Client, rows int) {
			m := NewMeter(Options{Client: client, Shares: s})
			done := m.TakeTurn(t.Context())
			m.Read(rows)
			done()
		}
		rests := func(rows int) time.Duration {
			for range s.turns.atOnce {
				read(networkClient(1), rows)
			}
			start := time.Now()
			for range s.turns.atOnce {
				read(networkClient(1), 0)
			}
			waited := time.Since(start)
			time.Sleep(mostOwed)
			return waited
		}
		const rows = 50_000
		if waited := rests(rows); waited > 0 {
			t.Errorf("a network that is alone rested for %v", waited)
		}
		this, other := networkOf(1), networkOf(2)
		s.SetElsewhere(map[netip.Prefix]int{this: 3, other: 1})
		read(networkClient(1), 0) // from now on it may owe rests
		got, alone := rests(rows/40), (1+restOfNetwork)*time.Duration(rows/40)*workPerRow
		if want := 4*alone*time.Duration(s.turns.atOnce) - unrested; want > 0 && (got < want/2 || got > want) {
			t.Errorf("a network that is active in four processes rested for %v, want about %v", got, want)
		}
		s.SetElsewhere(nil)
		time.Sleep(besideOthers + time.Second)
		if waited := rests(rows); waited > 0 {
			t.Errorf("a network rested for %v after the others had left", waited)
		}
	})
}

// Attack: users followed thousands of others within seconds, and the follows of everybody else waited for as many back-fills.
func TestShares_WorkInWorkersMakesANetworkRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		const later = 500
		follows := 0
		operate(ctx, s, networkClient(2))
		for ctx.Err() == nil {
			operate(ctx, s, networkClient(2))
			NewMeter(Options{Client: networkClient(1), Shares: s, Price: Price{Later: later}}).TakeTurn(ctx)()
			follows++
		}
		work := time.Duration(follows) * later * workPerPoint
		if most := 10*time.Second/(1+restOfNetwork) + mostOwed; work > most {
			t.Errorf("a network caused %v of work in ten seconds, want at most %v", work, most)
		}
		if work < time.Second {
			t.Errorf("a network caused only %v of work in ten seconds", work)
		}
	})
}

func TestActive_ReturnsTheNetworksThatWorkMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		for n := range 2 * activeCounted {
			turn, err := s.Write(t.Context(), networkClient(n))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(n) * 200 * time.Nanosecond)
			turn.End()
		}
		s.Decode(t.Context(), networkClient(9999)).End() // a health check
		if known := len(s.active.worked); known != activeCounted {
			t.Errorf("%d networks are counted, want %d", known, activeCounted)
		}
		active := s.Active(8)
		for n := range 8 { // those after the first ones are not counted
			if most := networkOf(activeCounted - 1 - n); !slices.Contains(active, most) {
				t.Errorf("the active networks %v lack %v, which works more", active, most)
			}
		}
		if again := s.Active(8); len(active) != 8 || len(again) > 0 {
			t.Errorf("%d networks are active, want 8; later %v", len(active), again)
		}
	})
}

func networkOf(n int) netip.Prefix { return networkClient(n).NetworkKey().Network }
