package cost

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Heavy queries of a network leave a half to others, and to light queries, mutations and events all that these need. One of another user begins
// while some of a user run: the latter rest most of the time.
func TestShares_HeavyQueriesDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := NewShares()
		client := func(n int) ratelimit.Client { return userOf(retwis.UserID(n+1), 1) }
		for n := range heavyQueries {
			for range 5 {
				go func() {
					if done, err := s.RunQuery(ctx, client(n), maxLight+1); err == nil {
						<-ctx.Done()
						done()
					}
				}()
			}
		}
		synctest.Wait()
		if used, want := s.heavy.networks.Used(), heavyQueries/2; used != want {
			t.Errorf("%d heavy queries of a network run, want %d", used, want)
		}
		for n := range heavyQueries {
			if running := s.heavy.clients.UsedBy(client(n).Key()); running > 1 {
				t.Errorf("%d heavy queries of one client run", running)
			}
		}
		other, err := s.RunQuery(ctx, userOf(2*heavyQueries, 2), maxLight+1)
		if err != nil {
			t.Fatal(err)
		}
		other()
		light, err := s.RunQuery(ctx, client(0), maxLight)
		if err != nil {
			t.Fatal(err)
		}
		mutation, err := s.Run(ctx, client(1), pointsOfHolder)
		if err != nil {
			t.Fatal(err)
		}
		mutation()
		light()
		cancel()
		synctest.Wait()
		if s.heavy.networks.Used() != 0 || s.light.networks.Used() != 0 {
			t.Errorf("%d heavy queries and %d points are still counted", s.heavy.networks.Used(), s.light.networks.Used())
		}
	})
}

// One network with many event streams, whose readers are slow, does not delay the streams of another.
func TestShares_EventStreamsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		client := func(network byte) ratelimit.Client {
			return ratelimit.Client{Address: netip.AddrFrom4([4]byte{192, 0, network, 1})}
		}
		slow, ended := make(chan struct{}), make(chan struct{}, 100)
		for range 100 {
			go func() {
				defer func() { ended <- struct{}{} }()
				turn, err := s.Write(t.Context(), client(1))
				if err != nil {
					t.Error(err)
					return
				}
				<-slow
				turn.End()
			}()
		}
		synctest.Wait()
		if writing, want := s.writes.Used(), max(1, runtime.GOMAXPROCS(0)/2); writing != want {
			t.Errorf("%d streams write, want %d", writing, want)
		}
		start := time.Now()
		turn, err := s.Write(t.Context(), client(2))
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited > 2*longTurn {
			t.Errorf("the stream of another network waited for %v", waited)
		}
		turn.End()
		time.Sleep(2 * 101 * (1 + restOfNetwork) * longTurn) // they rest, too
		if writing := s.writes.Used(); writing != 0 {
			t.Errorf("%d streams count, although they wait for their readers", writing)
		}
		close(slow)
		for range 100 {
			<-ended
		}
		if writing := s.writes.Used(); writing != 0 {
			t.Errorf("%d streams count after their writes", writing)
		}
	})
}

// Attack: a network had thousands of subscribers, whose events kept half of the cores busy, and had passwords compared, which kept the other half
// busy. Another one had passwords compared while it sent new documents.
func TestShares_ANetworkWaitsWhilePasswordsAreHashedForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		client := func(network byte) ratelimit.Client {
			return ratelimit.Client{User: 7, Address: netip.AddrFrom4([4]byte{192, 0, network, 1})}
		}
		var done []func()
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			end, err := s.Hash(t.Context(), client(1))
			if err != nil {
				t.Fatal(err)
			}
			done = append(done, end)
		}
		wrote, decoded := make(chan byte, 2), make(chan byte, 2)
		for network := range byte(2) {
			go func() {
				s.Decode(t.Context(), client(network+1)).End()
				decoded <- network + 1
			}()
			go func() {
				turn, err := s.Write(t.Context(), client(network+1))
				if err != nil {
					t.Error(err)
					return
				}
				turn.End()
				wrote <- network + 1
			}()
		}
		synctest.Wait()
		if len(wrote) != 1 || <-wrote != 2 {
			t.Error("only the other network should have written")
		}
		if len(decoded) != 1 || <-decoded != 2 {
			t.Error("only messages of the other network should have been decoded")
		}
		if s.writes.Used() != 0 {
			t.Error("the network that waits counts among those that write")
		}
		done[0]()
		if n := <-wrote; n != 1 {
			t.Errorf("network %d has written", n)
		}
		if n := <-decoded; n != 1 {
			t.Errorf("messages of network %d were decoded", n)
		}
		for _, end := range done[1:] {
			end()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Hash(ctx, client(1)); err != nil {
			t.Errorf("a hash that need not wait: %v", err)
		}
	})
}

// Attack: passwords of many users of a network were compared. Those that waited for the rests of their network held all places, and so log-ins from
// elsewhere waited for them, or were refused.
func TestShares_NoNetworkWaitsForTheHashesOfAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		client := func(user int64, network byte) ratelimit.Client {
			return ratelimit.Client{User: retwis.UserID(user), Address: netip.AddrFrom4([4]byte{192, 0, network, 1})}
		}
		release, results := make(chan struct{}), make(chan error, 2*hashesPresent)
		hash := func(client ratelimit.Client) {
			done, err := s.Hash(t.Context(), client)
			if err == nil {
				<-release
				done()
			}
			results <- err
		}
		for user := range int64(2 * hashesPresent) {
			go hash(client(user+1, 1))
		}
		synctest.Wait()
		if refused := len(results); refused != 2*hashesPresent-hashesPresent/2 {
			t.Errorf("%d passwords of the network were refused", refused)
		}
		for range len(results) {
			var busy *retwis.Error
			if err := <-results; !errors.As(err, &busy) || busy.Code != retwis.CodeRateLimited || busy.RetryAfterSeconds < 1 {
				t.Errorf("refused with %v", err)
			}
		}

		// One of another network, which makes the first one rest, waits for those that are hashed now, and is the next one.
		s.active.note(NetworkOf(client(1, 2)))
		began, hashed := time.Now(), make(chan time.Duration, 1)
		go func() {
			done, err := s.Hash(t.Context(), client(1, 2))
			if err != nil {
				t.Error(err)
				return
			}
			hashed <- time.Since(began)
			done()
		}()
		time.Sleep(longestRest / 2)
		if len(hashed) > 0 {
			t.Error("more than half of the cores hash passwords")
		}
		close(release)
		if waited := <-hashed; waited > longestRest/2 {
			t.Errorf("the other network waited for %v, for the rests of the first one", waited)
		}
		for range hashesPresent / 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if s.hashes.Used() != 0 || s.toHash.Used() != 0 {
			t.Errorf("%d hashes are counted in the end, and %d that wait", s.hashes.Used(), s.toHash.Used())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			if _, err := s.Hash(t.Context(), client(1, 3)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Hash(ctx, client(2, 3)); !errors.Is(err, context.Canceled) || s.toHash.Used() != max(1, runtime.GOMAXPROCS(0)/2) {
			t.Errorf("waiting with a context that is done: %v; %d are counted", err, s.toHash.Used())
		}
	})
}

// Attack: a thousand responses of a network waited for turns of compression, each with a compressor.
func TestShares_FewCompress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := NewShares()
		var compressing atomic.Int32
		ends := make(chan struct{})
		compress := func(begin func(context.Context, ratelimit.Client) (func(), error), client ratelimit.Client) {
			done, err := begin(ctx, client)
			if err != nil {
				return
			}
			compressing.Add(1)
			<-ends
			compressing.Add(-1)
			done()
		}
		for user := range 20 {
			go compress(s.Compress, userOf(retwis.UserID(user+1), 1))
			go compress(s.CompressShort, userOf(retwis.UserID(user+1), 1))
		}
		synctest.Wait()
		most := max(1, runtime.GOMAXPROCS(0)/2)
		if n := int(compressing.Load()); n != most {
			t.Errorf("%d parts are compressed at once, want %d", n, most)
		}

		// One of another network, which makes the first one rest, waits for one of those that are compressed now, and for the next one.
		s.active.note(NetworkOf(networkClient(2)))
		began, compressed := time.Now(), make(chan time.Duration, 1)
		go func() {
			done, err := s.Compress(ctx, networkClient(2))
			if err != nil {
				t.Error(err)
				return
			}
			compressed <- time.Since(began)
			done()
		}()
		time.Sleep(longestRest / 2)
		if len(compressed) > 0 {
			t.Error("more than half of the cores compress")
		}
		ends <- struct{}{}
		ends <- struct{}{}
		if waited := <-compressed; waited != longestRest/2 {
			t.Errorf("the other network waited for %v, want %v", waited, longestRest/2)
		}
		cancel() // the clients leave
		close(ends)
		time.Sleep(2 * longestRest) // they rest, too
		if compressing.Load() != 0 || s.deflate.Used() != 0 || s.turns.Used() != 0 || s.users.Used() != 0 {
			t.Errorf("%d parts are compressed, %d are counted, %d turns of networks, and %d of users", compressing.Load(), s.deflate.Used(), s.turns.Used(), s.users.Used())
		}
	})
}

// Attack: thousands of operations that need nothing but a core began at once, and left none to others.
func TestMeter_OperationsOfANetworkBeginInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		begin := func(network byte) (ctx context.Context, end func()) {
			m := NewMeter(Options{Client: ratelimit.Client{Address: netip.AddrFrom4([4]byte{192, 0, network, 1})}, Shares: s})
			return With(t.Context(), m), m.TakeTurn(t.Context())
		}
		var ends []func()
		ctx := t.Context()
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			var end func()
			ctx, end = begin(1)
			ends = append(ends, end)
		}
		begun := make(chan time.Duration, 2)
		start := time.Now()
		go func() {
			_, end := begin(1)
			begun <- time.Since(start)
			end()
		}()
		_, end := begin(2)
		end()
		synctest.Wait()
		if len(begun) > 0 || time.Since(start) > 0 {
			t.Error("an operation did not wait for another one of its network, or waited for that of another")
		}
		leave, err := Enter(ctx, 1) // the last one waits for Redis
		if err != nil {
			t.Fatal(err)
		}
		if waited := <-begun; waited != 0 {
			t.Errorf("an operation waited for %v for one that waits for Redis", waited)
		}
		leave()
		for _, end := range ends {
			end()
		}
		if s.turns.Used() != 0 {
			t.Errorf("%d turns have not ended", s.turns.Used())
		}
	})
}

// Attack: queries of a low price computed for 20 ms after their first read of Redis, with which their turn had ended.
func TestMeter_LongOperationsTakeTurnsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		client := ratelimit.Client{Address: netip.MustParseAddr("192.0.2.1")}
		m := NewMeter(Options{Client: client, Shares: s})
		m.TakeTurn(t.Context())()
		var others []*Turn
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			others = append(others, s.Decode(t.Context(), client))
		}
		goOn := func(points int) (after time.Duration) {
			start := time.Now()
			if err := m.Add(Work{RoundTrips: points / PerRoundTrip}); err != nil {
				t.Error(err)
			}
			return time.Since(start)
		}
		if waited := goOn(longWork/2) + goOn(10); waited != 0 {
			t.Errorf("a short operation waited for %v", waited)
		}
		if waited := goOn(longWork); waited != longTurn {
			t.Errorf("a long operation waited for %v, want until the others have no turn", waited)
		}
		time.Sleep(longPart / 2)
		if s.turns.Used() != 1 {
			t.Errorf("%d turns are taken, want that of the long operation", s.turns.Used())
		}
		if waited := goOn(10) + goOn(10); waited != 0 {
			t.Errorf("between two turns, an operation waited for %v", waited)
		}
		m.Close()
		for _, other := range others {
			other.End()
		}
		if s.turns.Used() != 0 {
			t.Errorf("%d turns have not ended", s.turns.Used())
		}
	})
}

// The exchanges of a context that is paid for wait like those of an operation.
func TestShares_PaidExchangesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewShares()
		ctx, cancel := context.WithCancel(t.Context())
		for range 10 * redisOfHolder {
			go func() {
				if leave, err := Enter(s.Paid(ctx, ratelimit.Client{User: 1}), 1); err == nil {
					<-ctx.Done()
					leave()
				}
			}()
		}
		synctest.Wait()
		if used := s.redis.Used(); used != redisOfHolder {
			t.Errorf("%d units are in use, want %d", used, redisOfHolder)
		}
		cancel()
		synctest.Wait()
		if used := s.redis.Used(); used != 0 {
			t.Errorf("%d units are in use in the end", used)
		}
	})
}

// Long exchanges of any number of clients leave Redis to short ones.
func TestEnter_LongExchangesDoNotDelayShortOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := NewShares()
		operation := func(n int) context.Context {
			return With(ctx, NewMeter(Options{Client: ratelimit.Client{User: retwis.UserID(n + 1)}, Shares: s, Charge: func(int) error { return nil }}))
		}
		worked := operation(100) // an operation that has done much
		if err := Walk(worked, (longWork+1)*RowsPerPoint); err != nil {
			t.Fatal(err)
		}
		enter := func(ctx context.Context, units int) {
			if leave, err := Enter(ctx, units); err == nil {
				<-ctx.Done()
				leave()
			}
		}
		for n := range 20 {
			for range 5 {
				go enter(operation(n), WalkUnits)
			}
		}
		go enter(worked, RedisPiece)
		synctest.Wait()
		if used := s.long.networks.Used(); used != longRedisInFlight {
			t.Errorf("%d units of long exchanges are in flight, want %d", used, longRedisInFlight)
		}
		if used := s.redis.networks.Used(); used != 0 {
			t.Errorf("long exchanges use %d units of short ones", used)
		}
		leave, err := Enter(operation(0), RedisPiece)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		cancel()
		synctest.Wait()
		if s.long.networks.Used() != 0 || s.redis.networks.Used() != 0 {
			t.Errorf("%d and %d units are still counted", s.long.networks.Used(), s.redis.networks.Used())
		}
	})
}

// Short exchanges and light operations have bounds of their own: for one holder, and for all of them together.
func TestShares_BoundShortExchangesAndLightOperations(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		gate            func(*Shares) Gates
		pass            func(context.Context, *Shares, ratelimit.Client) (func(), error)
		ofHolder, ofAll int
	}{
		"exchanges": {
			gate: func(s *Shares) Gates { return s.redis },
			pass: func(ctx context.Context, s *Shares, client ratelimit.Client) (func(), error) {
				m := NewMeter(Options{Client: client, Shares: s, Charge: func(int) error { return nil }})
				return Enter(With(ctx, m), RedisPiece)
			},
			ofHolder: redisOfHolder, ofAll: redisPerCore * max(2, runtime.GOMAXPROCS(0)),
		},
		"operations": {
			gate: func(s *Shares) Gates { return s.light },
			pass: func(ctx context.Context, s *Shares, client ratelimit.Client) (func(), error) {
				return s.RunQuery(ctx, client, maxLight)
			},
			ofHolder: pointsOfHolder, ofAll: pointsPerCore * runtime.GOMAXPROCS(0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := NewShares()
				ask := func(user retwis.UserID) {
					for range 100 {
						go func() {
							if leave, err := tt.pass(ctx, s, ratelimit.Client{User: user}); err == nil {
								<-ctx.Done()
								leave()
							}
						}()
					}
					synctest.Wait()
				}
				ask(1)
				if used := tt.gate(s).clients.Used(); used != tt.ofHolder {
					t.Errorf("one holder uses %d, want %d", used, tt.ofHolder)
				}
				for n := range 2 * tt.ofAll / tt.ofHolder {
					ask(retwis.UserID(n + 2))
				}
				if used := tt.gate(s).networks.Used(); used != tt.ofAll {
					t.Errorf("all holders use %d, want %d", used, tt.ofAll)
				}
				cancel()
				synctest.Wait()
				if used := tt.gate(s).networks.Used(); used != 0 {
					t.Errorf("%d are still counted", used)
				}
			})
		})
	}
}

// Attack: 330 users of one network read pages in four processes on one Redis. Each process had as many of their reads in flight as if it were the only one.
func TestShares_ScriptsOfANetworkAreSharedByItsProcesses(t *testing.T) {
	t.Parallel()
	this, other := networkOf(1), networkOf(2)
	for name, tt := range map[string]struct {
		processes, units int
		others           bool
		want             int // exchanges in flight
	}{
		"one process":          {1, ScriptUnits, true, 8},
		"two":                  {2, ScriptUnits, true, 4},
		"four":                 {4, ScriptUnits, true, 2},
		"a hundred":            {100, ScriptUnits, true, 1},
		"four, without others": {4, ScriptUnits, false, 8},
		"four, with commands":  {4, 1, true, 8},
		"four, with searches":  {4, SearchUnits, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := NewShares()
				s.redis = NewGates(2*redisPerCore, redisOfHolder) // as with one or two cores
				elsewhere := map[netip.Prefix]Elsewhere{this: {Processes: tt.processes - 1}}
				operate(ctx, s, networkClient(1))
				if tt.others {
					elsewhere[other] = Elsewhere{Processes: 1}
				}
				s.SetElsewhere(elsewhere)
				var inFlight atomic.Int32
				for user := range 50 {
					go func() {
						leave, err := Enter(With(ctx, NewMeter(Options{Client: userOf(retwis.UserID(user+1), 1), Shares: s})), tt.units)
						if err == nil {
							inFlight.Add(1)
							<-ctx.Done()
							leave()
						}
					}()
				}
				synctest.Wait()
				if n := int(inFlight.Load()); n != tt.want {
					t.Errorf("%d exchanges of a network are in flight, want %d", n, tt.want)
				}
				cancel()
				synctest.Wait()
				if used := s.redis.networks.Used(); used != 0 {
					t.Errorf("%d units are still counted", used)
				}
			})
		})
	}
}

// Attack: twenty users of one network used all that runs at once, and delayed everybody else.
func TestShares_UsersOfANetworkLeaveHalfToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := NewShares()
		hold := func(leave func(), err error) {
			if err == nil {
				<-ctx.Done()
				leave()
			}
		}
		for n := range 20 {
			for range 20 {
				client := userOf(retwis.UserID(n+1), 1)
				meter := NewMeter(Options{Client: client, Shares: s})
				go func() { hold(s.RunQuery(ctx, client, maxLight)) }()
				go func() { hold(Enter(With(ctx, meter), RedisPiece)) }()
			}
		}
		synctest.Wait()
		if used, want := s.light.networks.Used(), pointsPerCore*runtime.GOMAXPROCS(0)/2; used > max(want, pointsOfHolder) {
			t.Errorf("one network runs %d points, want %d", used, want)
		}
		if used, want := s.redis.networks.Used(), redisPerCore*max(2, runtime.GOMAXPROCS(0))/2; used != want {
			t.Errorf("one network has %d units in Redis, want %d", used, want)
		}
		neighbour := userOf(100, 2)
		free, err := s.Run(ctx, neighbour, freePoints)
		if err != nil {
			t.Fatal(err)
		}
		counted, err := s.Run(ctx, neighbour, 100)
		if err != nil {
			t.Fatal(err)
		}
		counted()
		free()
		cancel()
		synctest.Wait()
		if s.light.networks.Used() != 0 || s.light.clients.Used() != 0 || s.redis.networks.Used() != 0 || s.redis.clients.Used() != 0 {
			t.Error("something is still counted")
		}
	})
}

// Attack: a few users of one network send hundreds of operations at once. All other users of the network waited until these ended.
func TestShares_SmallOperationsDoNotWaitForTheirNetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := NewShares()
		const price = 100
		users := 2 * s.light.networks.Share() / (pointsOfHolder - freePoints)
		for n := range users {
			for range 100 {
				go func() {
					if done, err := s.RunQuery(ctx, userOf(retwis.UserID(n+1), 1), price); err == nil {
						<-ctx.Done()
						done()
					}
				}()
			}
		}
		synctest.Wait()
		if used, want := s.light.networks.Used(), s.light.networks.Share(); used != want {
			t.Errorf("%d points of the network count, want all %d", used, want)
		}
		light := userOf(retwis.UserID(users+1), 1)
		var ends []func()
		for range freePoints / price {
			done, err := s.RunQuery(t.Context(), light, price)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, done)
		}
		waiting := make(chan error)
		go func() {
			_, err := s.RunQuery(ctx, light, price)
			waiting <- err
		}()
		synctest.Wait()
		select {
		case err := <-waiting:
			t.Errorf("a client runs more than %d points while its network has none left: %v", freePoints, err)
		default:
		}
		for _, done := range ends {
			done()
		}
		cancel()
		<-waiting
		synctest.Wait()
		if s.light.networks.Used() != 0 || s.light.clients.Used() != 0 {
			t.Errorf("%d and %d points are still counted", s.light.networks.Used(), s.light.clients.Used())
		}
	})
}

// Attack: four users of one network let responses wait that took all the bytes of a process, and large requests arrive.
func TestShares_BytesOfANetworkLeaveHalfToOthers(t *testing.T) {
	t.Parallel()
	user := func(n int, address string) ratelimit.Client {
		return ratelimit.Client{User: retwis.UserID(n), Address: netip.MustParseAddr(address)}
	}
	for name, tt := range map[string]struct {
		gates           func(*Shares) Gates
		hold            func(s *Shares, client ratelimit.Client, bytes int) (release func(), ok bool)
		ofClient, ofAll int
	}{
		"responses": {func(s *Shares) Gates { return s.Bytes }, (*Shares).Hold, bytesOfHolder, bytesInFlight},
		"responses of operations": {func(s *Shares) Gates { return s.Bytes }, func(s *Shares, client ratelimit.Client, bytes int) (func(), bool) {
			m := NewMeter(Options{Client: client, Shares: s})
			return func() { m.Close() }, m.Written(bytes) == nil
		}, bytesOfHolder, bytesInFlight},
		"responses of connections": {func(s *Shares) Gates { return s.Bytes }, func(s *Shares, client ratelimit.Client, bytes int) (func(), bool) {
			account := s.Account(client)
			return func() { account.Set(0) }, account.Set(bytes)
		}, bytesOfHolder, bytesInFlight},
		"requests":             {func(s *Shares) Gates { return s.Requests }, (*Shares).Receive, requestsOfHolder, requestsInFlight},
		"values of operations": {func(s *Shares) Gates { return s.Values }, (*Shares).Keep, valuesOfHolder, valuesInFlight},
		"requests of connections": {func(s *Shares) Gates { return s.Requests }, func(s *Shares, client ratelimit.Client, bytes int) (func(), bool) {
			account := s.RequestAccount(client)
			return func() { account.Set(0) }, account.Set(bytes)
		}, requestsOfHolder, requestsInFlight},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewShares()
			const piece = MaxResponse
			var releases []func()
			hold := func(client ratelimit.Client) int {
				for n := 0; ; n += piece {
					release, ok := tt.hold(s, client, piece)
					if !ok {
						release()
						return n
					}
					releases = append(releases, release)
				}
			}
			if got := hold(user(1, "192.0.2.1")); got != tt.ofClient {
				t.Errorf("one client holds %d bytes, want %d", got, tt.ofClient)
			}
			for n := range tt.ofAll / tt.ofClient {
				hold(user(n+2, "192.0.2.1"))
			}
			if got := tt.gates(s).Used(); got != tt.ofAll/2 {
				t.Errorf("one network holds %d bytes, want %d", got, tt.ofAll/2)
			}
			if got := hold(user(100, "192.0.2.2")); got != tt.ofClient {
				t.Errorf("a client of another network holds %d bytes, want %d", got, tt.ofClient)
			}
			for _, release := range releases {
				release()
			}
			if g := tt.gates(s); g.networks.Used() != 0 || g.clients.Used() != 0 {
				t.Errorf("%d and %d bytes are still counted", g.networks.Used(), g.clients.Used())
			}
		})
	}
}

// Clients of two networks that keep all that their networks may keep do not make the operations of others be refused.
func TestShares_EachClientMayKeepSomeValues(t *testing.T) {
	t.Parallel()
	s := NewShares()
	var releases []func()
	for network := range 2 {
		for user := range retwis.UserID(2 * valuesInFlight / valuesOfHolder) {
			for range valuesOfHolder / MaxResponse {
				release, _ := s.Keep(userOf(user+1, network+1), MaxResponse)
				releases = append(releases, release)
			}
		}
	}
	for _, client := range []ratelimit.Client{userOf(1000, 1), userOf(1000, 2), userOf(1000, 3), networkClient(1), networkClient(3)} {
		release, ok := s.Keep(client, freeValues)
		if !ok {
			t.Errorf("%v may keep nothing", client)
		}
		if _, ok := s.Keep(client, MaxResponse); ok {
			t.Errorf("%v may keep more although nothing is left", client)
		}
		release()
	}
	for _, release := range releases {
		release()
	}
	if s.Values.Used() != 0 || s.Values.networks.Used() != 0 {
		t.Errorf("%d bytes are still counted, %d for networks", s.Values.Used(), s.Values.networks.Used())
	}
}

// Attack: thousands of accounts of one network each keep what does not count for it.
func TestShares_ANetworkMayKeepABoundedPartOfFreeValues(t *testing.T) {
	t.Parallel()
	s := NewShares()
	kept := 0
	for user := range retwis.UserID(5000) {
		if release, ok := s.Keep(userOf(user+1, 1), freeValues); ok {
			kept += freeValues
			defer release()
		}
	}
	if most := freeValuesOfNetwork + valuesInFlight/2; kept != most {
		t.Errorf("the clients of a network keep %d bytes, want %d", kept, most)
	}
	if _, ok := s.Keep(userOf(1, 2), freeValues); !ok {
		t.Error("a client of another network may keep nothing")
	}
}

// Attacks: hundreds of subscriptions start at once, and each divides thousands of long posts into words; accounts read hundreds of lists at once
// that have to be rebuilt.
func TestShares_DoHeavyPartsForANetworkInTurn(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(context.Context, *Meter) (done func(), err error){
		"computations": func(ctx context.Context, m *Meter) (func(), error) { return m.Compute(ctx) },
		"plans": func(ctx context.Context, m *Meter) (func(), error) {
			done, err := m.Plan(ctx, false)
			return func() { done(0) }, err
		},
		"rebuilds": func(ctx context.Context, m *Meter) (func(), error) {
			_, done, err := Rebuild(With(ctx, m))
			return done, err
		},
	} {
		t.Run(name, func(t *testing.T) { doInTurn(t, begin) })
	}
}

func doInTurn(t *testing.T, begin func(context.Context, *Meter) (done func(), err error)) {
	t.Helper()
	most := slotsOn(runtime.GOMAXPROCS(0)) / 2
	synctest.Test(t, func(t *testing.T) {
		shares := NewShares()
		ends := make(chan struct{})
		var running atomic.Int32
		for i := range 20 {
			user := ratelimit.Client{User: retwis.UserID(i % 4), Address: netip.MustParseAddr("192.0.2.1")}
			meter := NewMeter(Options{Client: user, Shares: shares})
			go func() {
				done, err := begin(t.Context(), meter)
				if err != nil {
					return
				}
				running.Add(1)
				<-ends
				running.Add(-1)
				done()
			}()
		}
		synctest.Wait()
		if n := int(running.Load()); n != most {
			t.Errorf("%d run at once, want %d", n, most)
		}
		// Attack: the one that ran waited for others of its network, and a client of another network for it.
		other := NewMeter(Options{Client: ratelimit.Client{Address: netip.MustParseAddr("198.51.100.1")}, Shares: shares})
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if done, err := begin(impatient, other); err != nil {
			t.Errorf("a client of another network waits: %v", err)
		} else {
			done()
		}
		close(ends)
		synctest.Wait()
		used := 0
		for _, gates := range []Gates{shares.computes, shares.rebuilds, shares.documents} {
			used += gates.networks.Used()
		}
		if used != 0 {
			t.Errorf("%d are still counted", used)
		}
	})
}

// Replays load fewer posts at a time, but one at least, once others of their client or network keep many.
func TestShares_ReplaysKeepFewerPostsBesideOthers(t *testing.T) {
	t.Parallel()
	s := NewShares()
	var releases []func()
	keep := func(client ratelimit.Client) int {
		n, release := s.KeepPosts(client, 100)
		releases = append(releases, release)
		return n
	}
	kept := 0
	for range 2 * postsOfHolder / 100 {
		kept += keep(userOf(1, 1))
	}
	if kept < postsOfHolder || kept > postsOfHolder+2*postsOfHolder/100*fewPosts {
		t.Errorf("the replays of a client keep %d posts", kept)
	}
	if n := keep(userOf(2, 1)); n != 100 {
		t.Errorf("a replay of another client keeps %d posts", n)
	}
	for user := range retwis.UserID(20) {
		for range postsOfHolder / 100 {
			keep(userOf(user+3, 1))
		}
	}
	if n := keep(userOf(2, 1)); n != fewPosts {
		t.Errorf("a replay of a network with many keeps %d posts", n)
	}
	if n := keep(userOf(2, 2)); n != 100 {
		t.Errorf("a replay of another network keeps %d posts", n)
	}
	for _, release := range releases {
		release()
	}
	if s.Posts.Used() != 0 || s.Posts.networks.Used() != 0 {
		t.Errorf("%d posts are still counted", s.Posts.Used())
	}
}
