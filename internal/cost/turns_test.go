package cost

import (
	"context"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

func networkClient(n int) ratelimit.Client {
	return ratelimit.Client{Address: netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), 1})}
}

func userOf(user retwis.UserID, network int) ratelimit.Client {
	return ratelimit.Client{User: user, Address: networkClient(network).Address}
}

// operate makes an operation of a client, which takes no time.
func operate(ctx context.Context, s *Shares, client ratelimit.Client) {
	NewMeter(Options{Client: client, Shares: s}).TakeTurn(ctx)()
}

// waitOf returns for how long a client waits for a turn, while another network is active.
func waitOf(ctx context.Context, s *Shares, client ratelimit.Client) time.Duration {
	operate(ctx, s, networkClient(3))
	start := time.Now()
	s.Decode(ctx, client).End()
	return time.Since(start)
}

// work takes turns without a pause until ctx is done, as many at a time as a network may have. It returns for how long they lasted together.
func work(ctx context.Context, s *Shares, client ratelimit.Client, each time.Duration) time.Duration {
	workers := max(1, runtime.GOMAXPROCS(0)/2)
	worked := make(chan time.Duration, workers)
	for range workers {
		go func() {
			var sum time.Duration
			for {
				turn := s.Decode(ctx, client)
				if ctx.Err() != nil {
					turn.End()
					worked <- sum
					return
				}
				time.Sleep(each)
				turn.End()
				sum += each
			}
		}()
	}
	var sum time.Duration
	for range workers {
		sum += <-worked
	}
	return sum / time.Duration(workers)
}

// The turn of a message lasts for as long as it takes to decode, unless it ends before: nobody can tell what waits from what works.
func TestShares_TurnsAreLongerForLargeMessages(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]time.Duration{0: longTurn, 250_000: longTurn + 7500*time.Microsecond} {
		synctest.Test(t, func(t *testing.T) {
			s := NewShares()
			for range max(1, runtime.GOMAXPROCS(0)/2) {
				s.DecodeLong(t.Context(), networkClient(1), bytes) // waits
			}
			start := time.Now()
			s.Decode(t.Context(), networkClient(1)).End()
			if got := time.Since(start); got != want {
				t.Errorf("a turn for %d bytes lasts %v, want %v", bytes, got, want)
			}
		})
	}
}

func TestShares_ANetworkRestsBesideOthers(t *testing.T) {
	t.Parallel()
	const long, checks = 10 * time.Second, -time.Second
	for name, tt := range map[string]struct {
		busy   ratelimit.Client
		others time.Duration // between the turns of another network; 0 for none
		want   time.Duration // of work
	}{
		"alone":                         {networkClient(1), 0, long},
		"beside another":                {networkClient(1), time.Second, long / 4},
		"beside health checks":          {networkClient(1), checks, long},
		"beside one that has left":      {networkClient(1), time.Hour, long}, // its turn was long before
		"for several":                   {ForSeveral(), time.Second, long},
		"a user without an address":     {ratelimit.Client{User: 3}, time.Second, long / 4},
		"a user beside another network": {userOf(3, 1), time.Second, long / 8},
		"a user, alone":                 {userOf(3, 1), 0, long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := NewShares()
				other := func() { operate(t.Context(), s, networkClient(2)) }
				if tt.others > 0 {
					operate(t.Context(), s, networkClient(1))
					other()
					time.Sleep(besideOthers + time.Second)
				}
				ctx, cancel := context.WithTimeout(t.Context(), long)
				defer cancel()
				if tt.others == checks {
					go func() {
						for ctx.Err() == nil {
							s.Decode(ctx, networkClient(2)).End()
							time.Sleep(-checks)
						}
					}()
				}
				if tt.others > 0 && tt.others < long {
					other()
					go func() {
						for ctx.Err() == nil {
							time.Sleep(tt.others)
							other()
						}
					}()
				}
				worked := work(ctx, s, tt.busy, 300*time.Microsecond)
				if worked < tt.want*9/10 || worked > tt.want*21/20 {
					t.Errorf("it worked for %v, want %v", worked, tt.want)
				}
				time.Sleep(long)
				if used := s.turns.Used(); used != 0 {
					t.Errorf("%d turns have not ended", used)
				}
			})
		})
	}
}

// Those who work now and then wait for nobody, as long as their network does so less than a quarter of the time.
func TestShares_LightClientsDoNotRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		busy := make(chan time.Duration)
		go func() { busy <- work(ctx, s, networkClient(1), 300*time.Microsecond) }()
		for ctx.Err() == nil {
			operate(t.Context(), s, networkClient(3)) // of anybody else
			start := time.Now()
			turn := s.Decode(t.Context(), networkClient(2))
			if waited := time.Since(start); waited > 0 {
				t.Fatalf("a light client waited for %v", waited)
			}
			time.Sleep(200 * time.Microsecond)
			turn.End()
			time.Sleep(800 * time.Microsecond)
		}
		<-busy
	})
}

// Attack: somebody caused work for minutes, and all others behind the same address waited for it to be rested.
func TestShares_AUserDoesNotMakeItsNetworkWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		busy := make(chan time.Duration)
		go func() { busy <- work(ctx, s, userOf(1, 1), 300*time.Microsecond) }()
		wait := func() time.Duration { return waitOf(t.Context(), s, userOf(2, 1)) }
		for ctx.Err() == nil {
			if waited := wait(); waited > 300*time.Microsecond {
				t.Errorf("another user of the network waited for %v, want one turn at most", waited)
			}
			time.Sleep(10 * time.Millisecond)
		}
		<-busy
		for range 100 {
			Owe(With(t.Context(), NewMeter(Options{Client: userOf(1, 1), Shares: s})), 10_000)
		}
		operate(t.Context(), s, userOf(1, 1))
		if waited := wait(); waited > longestRest {
			t.Errorf("another user waited for %v after that caused a lot of work, want at most %v", waited, longestRest)
		}
		time.Sleep(unrested + longestRest)
		if waited := wait(); waited > 0 {
			t.Errorf("another user waited for %v later", waited)
		}
	})
}

// Attack: a dozen users of one network had many operations each, and every turn of all others waited for a turn of each of them, and its rest.
func TestShares_AUserWhoWorksLittleGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		const each, users = 300 * time.Microsecond, 12
		busy := make(chan time.Duration, users)
		for n := range users {
			go func() { busy <- work(ctx, s, userOf(retwis.UserID(n+1), 1), each) }()
		}
		time.Sleep(time.Second)
		// At most one turn has begun, and one is of a user who has worked as little. The network rests after each, or after several.
		const longest = 2 * (each + shortestRest + restOfNetwork*each)
		for ctx.Err() == nil {
			if waited := waitOf(t.Context(), s, userOf(100, 1)); waited > longest {
				t.Errorf("a user who works little waited for %v beside %d others, want %v at most", waited, users, longest)
			}
			time.Sleep(10 * time.Millisecond)
		}
		shares := make([]time.Duration, users)
		for n := range shares {
			shares[n] = <-busy
		}
		if least, most := slices.Min(shares), slices.Max(shares); most > least+2*each {
			t.Errorf("the others worked for %v to %v, want about the same", least, most)
		}
	})
}

// What an operation causes elsewhere delays the next turns of its network, beside others.
func TestShares_WorkWithoutTurnsMakesANetworkRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		wait := func(n int) time.Duration {
			start := time.Now()
			operate(t.Context(), s, networkClient(n))
			return time.Since(start)
		}
		post := func() { Owe(With(t.Context(), NewMeter(Options{Client: networkClient(1), Shares: s})), 1000) }
		post() // there are no others
		wait(1)
		wait(2)
		wait(1)
		post()
		post()
		for range s.turns.atOnce {
			wait(1) // each rests afterwards
		}
		work := 2 * 1000 * workPerPoint
		if waited, want := wait(1), (1+restOfNetwork)*work-unrested; waited != want {
			t.Errorf("the network rested for %v, want %v", waited, want)
		}
		if waited := wait(2); waited != 0 {
			t.Errorf("another one waited for %v", waited)
		}
	})
}

// Attack: a people search compared 500 names for 50 to 200 ms. The turn of its operation had ended after 5 ms, or when another field began to wait.
func TestComputeTurn_EndsWithTheComputation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		m := NewMeter(Options{Client: userOf(1, 1), Shares: s})
		ctx := With(t.Context(), m)
		defer m.TakeTurn(ctx)()
		done, err := ComputeTurn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n := s.turns.Used(); n != 1 {
			t.Errorf("the operation has %d turns, want 1", n)
		}
		leave, err := Enter(ctx, 1) // another field
		if err != nil {
			t.Fatal(err)
		}
		leave()
		if n := s.turns.Used(); n != 1 {
			t.Errorf("after another field has begun to wait, the operation has %d turns, want 1", n)
		}
		start := time.Now()
		waits := make(chan time.Duration)
		go func() {
			done, err := ComputeTurn(With(t.Context(), NewMeter(Options{Client: userOf(1, 1), Shares: s})))
			if err != nil {
				t.Error(err)
				done = func() {}
			}
			done()
			waits <- time.Since(start)
		}()
		time.Sleep(longPart / 2)
		done()
		if waited := <-waits; waited < longPart/2 {
			t.Errorf("another computation of the user waited for %v, want until the first one has ended", waited)
		}
		if n := s.turns.Used(); n != 0 {
			t.Errorf("%d turns have not ended", n)
		}
	})
}

// Attack: users put an author on 40 000 lists. From then on each post made the author's network rest, so that its reads took a quarter of a second.
func TestShares_ListsOfOthersDoNotMakeANetworkRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		author := userOf(3, 1)
		for range 2 {
			waitOf(t.Context(), s, author)
		}
		const points = 10_000
		paid := 0
		m := NewMeter(Options{Client: author, Shares: s, Charge: func(points int) error { paid += points; return nil }})
		OweLists(With(t.Context(), m), points)
		if paid != points {
			t.Errorf("the author pays %d points, want %d", paid, points)
		}
		for range 2 * s.turns.atOnce {
			if waited := waitOf(t.Context(), s, author); waited != 0 {
				t.Errorf("the author waited for %v", waited)
			}
		}
	})
}

// Attack: see TestCatchUpQueue_ANetworkRestsAndOthersGoOn.
func TestMeter_RestIsForTheWorkOfTimelinesThatCaughtUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		this, other := networkOf(1), networkOf(2)
		catchUp := func(client ratelimit.Client) time.Duration {
			m := NewMeter(Options{Client: client, Shares: s})
			_ = m.Add(Work{Rows: 1000 * RowsPerPoint})
			return m.Rest()
		}
		operate(t.Context(), s, networkClient(1))
		if rest := catchUp(networkClient(1)); rest != 0 {
			t.Errorf("a network that is alone rests for %v", rest)
		}
		operate(t.Context(), s, networkClient(2))
		s.SetElsewhere(map[netip.Prefix]Elsewhere{this: {Processes: 3}, other: {Processes: 1}})
		for range s.turns.atOnce {
			catchUp(networkClient(1))
		}
		if rest := catchUp(networkClient(1)); rest != longestRest {
			t.Errorf("a network that is active in four processes rests for %v, want %v", rest, longestRest)
		}
		if rest := catchUp(ForSeveral()); rest != 0 {
			t.Errorf("several networks rest for %v", rest)
		}
		if rest := NewMeter(Options{}).Rest(); rest != 0 {
			t.Errorf("without shares, there is a rest of %v", rest)
		}
	})
}

// Attack: 187 users of one network with 1350 followers each posted as fast as they may. Workers delivered fewer posts than that, so all outboxes grew.
func TestShares_PostsToManyFollowersMakeANetworkRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		const followers = 10_000
		author := userOf(3, 1)
		for range 2 {
			waitOf(t.Context(), s, author)
		}
		OweFollowers(With(t.Context(), NewMeter(Options{Client: author, Shares: s})), followers)
		for range s.turns.atOnce {
			operate(t.Context(), s, author) // each rests afterwards
		}
		if waited, want := waitOf(t.Context(), s, userOf(4, 1)), (1+restOfNetwork)*followers*workPerPush-unrested; waited != want {
			t.Errorf("the network rested for %v, want %v", waited, want)
		}
		if waited := waitOf(t.Context(), s, author); waited != 0 {
			t.Errorf("the author rested for %v more", waited)
		}
	})
}

// A network that is in many crowds writes their events meanwhile.
func TestShares_CrowdsOfANetworkTakeTurnsWithItsWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		ctx, cancel := context.WithCancel(t.Context())
		const each = 100 * time.Microsecond
		for range 100 {
			go func() {
				for ctx.Err() == nil {
					turn, err := s.HandOver(ctx, networkClient(1))
					if err != nil {
						return
					}
					time.Sleep(each)
					turn.End()
				}
			}()
		}
		synctest.Wait()
		for range 10 {
			start := time.Now()
			turn, err := s.Write(ctx, networkClient(1))
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(start); waited > 2*each {
				t.Errorf("a write waited for %v, want at most the hand-overs that have a turn or wait for the next one", waited)
			}
			turn.End()
		}
		cancel()
		synctest.Wait()
		time.Sleep(time.Second)
		if s.turns.Used() != 0 || s.writes.Used() != 0 || s.crowds.Used() != 0 {
			t.Errorf("%d turns, %d writes and %d hand-overs have not ended", s.turns.Used(), s.writes.Used(), s.crowds.Used())
		}
	})
}

func TestTurns_ForgetNetworksThatOweNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		for n := range 10 * restsKept {
			turn, err := s.Write(t.Context(), networkClient(n))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Microsecond)
			turn.End()
		}
		if known := len(s.turns.rested); known > restsKept {
			t.Errorf("%d networks are remembered", known)
		}
	})
}
