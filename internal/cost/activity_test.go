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
		client := networkClient(1)
		read := func(rows int) {
			m := NewMeter(Options{Client: client, Shares: s})
			done := m.TakeTurn(t.Context())
			m.Read(rows)
			done()
		}
		wait := func() time.Duration { // for a turn, after all of them were used
			for range s.turns.atOnce {
				read(50_000)
			}
			start := time.Now()
			read(0)
			waited := time.Since(start)
			time.Sleep(mostOwed)
			return waited
		}
		if waited := wait(); waited > 0 {
			t.Errorf("a network that is alone rested for %v", waited)
		}
		s.SetBehind(true) // attack: hundreds of users ordered work for minutes before others came
		read(0)           // from now on it may owe rests
		if wait() == 0 {
			t.Error("a network that is alone did not rest while workers were behind")
		}
		s.SetBehind(false)
		const rows = 1000
		this, other := networkOf(1), networkOf(2)
		for _, processes := range []int{1, 4} {
			s.SetElsewhere(map[netip.Prefix]Elsewhere{this: {Processes: processes - 1}, other: {Processes: 1}})
			time.Sleep(mostOwed)
			read(0) // from now on it may owe rests
			owed := func() time.Duration { return time.Until(s.turns.rested[client.Key()]) }
			before := owed()
			read(rows)
			got, want := owed()-max(before, 0), time.Duration(processes)*(1+restOfNetwork)*rows*workPerRow
			if got != want {
				t.Errorf("a network that is active in %d processes owes %v for %d rows, want %v", processes, got, rows, want)
			}
		}
		if waited := wait(); waited != longestRest {
			t.Errorf("the network waited for %v beside one that is active elsewhere, want %v", waited, longestRest)
		}
		s.SetElsewhere(nil)
		time.Sleep(besideOthers + time.Second)
		if waited := wait(); waited > 0 {
			t.Errorf("a network rested for %v after the others had left", waited)
		}
	})
}

// Attack: an address read pages through four processes on two cores. Each left half of its cores to others, and so none of them did.
func TestShares_ANetworkSharesTheCoresOfAHostWithItself(t *testing.T) {
	t.Parallel()
	const work = 20 * time.Millisecond
	this, other := networkOf(1), networkOf(2)
	for name, tt := range map[string]struct {
		cores, coresOfHost, processes, onHost int // others
		want                                  int // times the work of this process
	}{
		"one process":                        {2, 2, 0, 0, 1},
		"four, on two cores":                 {2, 2, 3, 3, 4},
		"four, of which two on two cores":    {2, 2, 3, 1, 2},
		"four, on other hosts":               {2, 2, 3, 0, 1},
		"four, each with a core of four":     {1, 4, 3, 3, 1},
		"four, each with two cores of four":  {2, 4, 3, 3, 2},
		"two, each with a quarter of a host": {2, 8, 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := NewShares()
				s.active.cores, s.active.coresOfHost = tt.cores, tt.coresOfHost
				s.SetElsewhere(map[netip.Prefix]Elsewhere{this: {Processes: tt.processes, OnHost: tt.onHost}, other: {Processes: 1}})
				end, err := s.begin(t.Context(), userOf(1, 1))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(work)
				end(work)
				counted := time.Duration(tt.want) * work
				user, network := userAndNetwork(userOf(1, 1))
				for key, turns := range map[ratelimit.Key]*turns{user: s.users, network: s.turns} {
					rests := time.Until(turns.rested[key])
					if want := time.Duration(1+turns.restPerWork)*counted/time.Duration(turns.atOnce) - counted; rests != want {
						t.Errorf("%v rests for %v after %v of work, want %v", key, rests, work, want)
					}
				}
			})
		})
	}
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

// Attack: an address worked at full speed in processes that learned only half a second later of somebody who had been silent.
func TestActivity_AnnouncesANetworkThatJoinsAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		joins := func() (network netip.Prefix) {
			select {
			case network = <-s.Joined():
			default:
			}
			return network
		}
		busy, other := networkClient(1), networkClient(2)
		expect := func(when string, client ratelimit.Client, want netip.Prefix) {
			t.Helper()
			operate(t.Context(), s, client)
			if got := joins(); got != want {
				t.Errorf("%s, %v is announced, want %v", when, got, want)
			}
		}
		var none netip.Prefix
		expect("at first", busy, networkOf(1))
		expect("alone", busy, none)
		for range 3 {
			expect("beside the busy network", other, networkOf(2))
			expect("beside the other network", busy, none)
			expect("again", other, none)
			for range besideOthers/time.Second + 1 {
				time.Sleep(time.Second)
				expect("while the other network is silent", busy, none)
			}
		}
		time.Sleep(2 * besideOthers)
		s.Note(networkOf(3))
		expect("beside one that is active elsewhere", other, networkOf(2))
	})
}
