package rdb

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/script"
)

// Attack: a post to 16 000 lists was delivered in pipelines of 64 000 pushes, for which Redis did not serve others for seconds.
func TestPieces_AreShort(t *testing.T) {
	t.Parallel()
	rest, work := []int{0, 1, 2, 3, 4, 5, 6}, []int{pieceWork, 1, pieceWork - 1, 1, 10 * pieceWork, 2, 3}
	var got [][]int
	for len(rest) > 0 {
		n := pieceLength(rest, func(call int) int { return work[call] }, pieceWork)
		got, rest = append(got, rest[:n]), rest[n:]
	}
	if want := [][]int{{0}, {1, 2}, {3}, {4}, {5, 6}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the pieces are %v, want %v", got, want)
	}
}

func TestDoInPieces_LimitsPipelinesInFlight(t *testing.T) {
	t.Parallel()
	const rounds, calls, took = 6, 20, time.Millisecond
	server := &slowServer{takes: took}
	db, run := server.open(t, calls, 1, pieceWork)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var all sync.WaitGroup
		for range rounds {
			all.Go(func() {
				for _, cmd := range run(t.Context()) {
					if err := cmd.Err(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if server.most != piecesInFlight || server.pipelines != rounds*calls {
			t.Errorf("%d pipelines were in flight at once, want %d; %d in all, want %d", server.most, piecesInFlight, server.pipelines, rounds*calls)
		}
		if elapsed, want := time.Since(start), rounds*calls/piecesInFlight*took; elapsed != want {
			t.Errorf("took %v, want %v", elapsed, want)
		}
		if n := db.pieces.Used(); n != 0 {
			t.Errorf("work of %d still counts", n)
		}
	})
}

// Each operation has several exchanges, which waited for two long pipelines each.
func TestDoInPieces_AreShorterBesideOperations(t *testing.T) {
	t.Parallel()
	const calls, work, want = 16, shortPieceWork / 4, 4
	server := &slowServer{takes: time.Millisecond}
	db, run := server.open(t, calls, 4, work)
	synctest.Test(t, func(t *testing.T) {
		pipelines := func() int {
			server.pipelines, server.most = 0, 0
			run(t.Context())
			return server.pipelines
		}
		if n := pipelines(); n != 2 || server.most != piecesInFlight {
			t.Errorf("%d pipelines, %d at once, want two", n, server.most)
		}
		db.processes.operations.note()
		if n := pipelines(); n != want || server.most != 1 {
			t.Errorf("%d pipelines beside operations, %d at once, want %d, one after the other", n, server.most, want)
		}
		time.Sleep(operationsFresh)
		if n := pipelines(); n != 2 {
			t.Errorf("%d pipelines after the operations, want two", n)
		}
		if n := db.pieces.Used(); n != 0 {
			t.Errorf("work of %d still counts", n)
		}
	})
}

// Attack: four workers kept a server as busy as it could be, and the operations of others took ten times as long.
func TestDoInPieces_RestsForOtherProcesses(t *testing.T) {
	t.Parallel()
	const calls, others, took = 10, 3, 2 * time.Millisecond
	server := &slowServer{takes: took}
	db, run := server.open(t, calls, 1, shortPieceWork)
	synctest.Test(t, func(t *testing.T) {
		elapsed := func() time.Duration {
			start := time.Now()
			run(t.Context())
			return time.Since(start)
		}
		db.processes.deliver.Store(others)
		if got, want := elapsed(), time.Duration(calls/(pieceWork/shortPieceWork)+1)*took; got != want {
			t.Errorf("without operations, deliveries took %v, want %v", got, want)
		}
		db.processes.serve.Store(true)
		if got, want := elapsed(), calls*took+(calls-1)*others*shortPieceWork*timeOfPush; got != want {
			t.Errorf("beside operations, deliveries took %v, want %v with rests", got, want)
		}
		time.Sleep(longestRest)
		if n := db.pieces.Used(); n != 0 {
			t.Errorf("work of %d still counts", n)
		}
		server.takes, server.pipelines = time.Second, 0 // it waits for a core, not for Redis
		got := elapsed()
		if most := time.Duration(server.pipelines)*server.takes + calls*others*shortPieceWork*timeOfPush; got > most {
			t.Errorf("beside a slow server, deliveries took %v, want at most %v: rests depend on the work", got, most)
		}
		db.processes.deliver.Store(1000)
		if got, most := elapsed(), calls*(server.takes+longestRest); got > most {
			t.Errorf("beside 1000 processes, deliveries took %v, want at most %v", got, most)
		}
	})
}

// Where an exchange takes milliseconds, because Redis waits for a disk, workers that sent a short piece in each fell 20 seconds behind 75 posts a second.
func TestDoInPieces_HaveMoreWorkInSlowExchanges(t *testing.T) {
	t.Parallel()
	const calls, work, rounded = 32, shortPieceWork / 4, time.Microsecond
	server := &slowServer{}
	db, run := server.open(t, calls, 4, work)
	synctest.Test(t, func(t *testing.T) {
		db.processes.serve.Store(true)
		for _, step := range []struct {
			takes        time.Duration
			most         int // pipelines at once
			workOfPieces int
		}{
			{time.Millisecond / 2, 1, shortPieceWork},
			{piecesShare * shortPieceWork * timeOfPush, 1, shortPieceWork},
			{piecesShare*2*shortPieceWork*timeOfPush + rounded, 1, 2 * shortPieceWork},
			{slowestPace + rounded, piecesInFlight, pieceWork},
			{time.Second, piecesInFlight, pieceWork},
			{time.Millisecond / 2, 1, shortPieceWork},
		} {
			server.takes = step.takes
			for range 50 { // the average follows
				server.pipelines, server.most = 0, 0
				run(t.Context())
			}
			ofPiece := step.workOfPieces / work
			if pipelines := (calls/piecesInFlight + ofPiece - 1) / ofPiece * piecesInFlight; server.pipelines != pipelines || server.most != step.most {
				t.Errorf("exchanges of %v: %d pipelines, %d at once, want %d and %d", step.takes, server.pipelines, server.most, pipelines, step.most)
			}
		}
		if n := db.pieces.Used(); n != 0 {
			t.Errorf("work of %d still counts", n)
		}
	})
}

// Attack: reposts to hundreds of watched homes, each of which was searched for the same post, kept Redis busy.
func TestRestAfterSearches_IsSharedByProcesses(t *testing.T) {
	t.Parallel()
	server := &slowServer{takes: time.Millisecond}
	db, _ := server.open(t, 1, 1, 1)
	synctest.Test(t, func(t *testing.T) {
		rests := func(when string, want time.Duration) {
			t.Helper()
			if got := db.RestAfterSearches(1000); got != want {
				t.Errorf("%s: the rest after 1000 searches takes %v, want %v", when, got, want)
			}
		}
		db.processes.deliver.Store(3)
		db.processes.several.note()
		rests("without operations", 0)
		db.processes.operations.note()
		rests("beside operations of several networks, and three processes", 4*1000*restAfterSearch)
		time.Sleep(severalFor)
		db.processes.operations.note()
		rests("beside operations of one network", 0)
	})
}

// Attack: a push to a watched timeline takes Redis several times as long as another one. Exchanges were slow because of such deliveries, so more
// work was in flight, until they took all of the time of Redis.
func TestWorkAtOnce_FollowsTheShorterExchangesBesideACrowd(t *testing.T) {
	t.Parallel()
	db, _ := (&slowServer{}).open(t, 1, 1, 1)
	synctest.Test(t, func(t *testing.T) {
		db.processes.serve.Store(true)
		for range 100 {
			for _, took := range []time.Duration{slowestPace, time.Millisecond, slowestPace, slowestPace} {
				db.pace.note(took)
			}
		}
		want := func(little bool) {
			t.Helper()
			if got := db.WorkAtOnce(); (got < 2*shortPieceWork) != little || (got > workInFlight/2) == little {
				t.Errorf("%d pushes may be in flight where one of four exchanges takes a millisecond; want little: %t", got, little)
			}
		}
		want(false)
		db.SetCrowded(true)
		want(false) // there are no others
		db.processes.several.note()
		want(true)
		db.SetCrowded(false)
		want(false)
		db.SetCrowded(true)
		time.Sleep(severalFor)
		want(false)
	})
}

// Rests that are shorter than what a timer takes are taken together, and what a rest took too long counts.
func TestRests_AreAsLongAsOwed(t *testing.T) {
	t.Parallel()
	var r rests
	var rested time.Duration
	const pieces, each, late = 1000, 200 * time.Microsecond, 300 * time.Microsecond
	for range pieces {
		if rest := r.due(each); rest > 0 {
			if rest < shortestRest {
				t.Fatalf("a rest of %v, want at least %v", rest, shortestRest)
			}
			r.taken(rest, rest+late)
			rested += rest + late
		}
	}
	if want := pieces * each; rested < want-2*shortestRest || rested > want+2*shortestRest {
		t.Errorf("rested for %v, want about %v", rested, want)
	}
}

// Attack: 16 outboxes had eight tasks each in flight, scripts of 2 to 4 milliseconds, and all others waited behind them.
func TestTaskTurn_LimitsTasksInFlight(t *testing.T) {
	t.Parallel()
	server := &slowServer{takes: 10 * time.Millisecond}
	db, _ := server.open(t, 1, 1, 1)
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for i := range 128 {
			all.Go(func() {
				defer db.TaskTurn(t.Context(), db.partitions[0], retwis.Actor{User: 1, Network: "a"})()
				if err := db.Do(t.Context(), Call{Script: script.Merge, Keys: []string{db.partitions[0].Tag}, Args: []any{i}}).Err(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if used := db.tasks.at("").tasks.Used(); server.most != 1 || used != 0 {
			t.Errorf("%d tasks were in flight at once, want 1; %d still count", server.most, used)
		}
	})
}

// Attack: a follow showed its posts 8 s later behind thousands of changes of the lists of other users, and 0.6 s later if these were fifty.
func TestTaskTurn_UsersTakeTurns(t *testing.T) {
	t.Parallel()
	server := &slowServer{takes: time.Millisecond}
	db, _ := server.open(t, 1, 1, 1)
	synctest.Test(t, func(t *testing.T) {
		ctx, p := t.Context(), db.partitions[0]
		task := func(network string, user retwis.UserID) {
			defer db.TaskTurn(ctx, p, retwis.Actor{User: user, Network: network})()
			time.Sleep(server.takes + time.Duration(user)*time.Microsecond)
		}
		const users = 50
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() { task("crowded", retwis.UserID(1+i%users)) })
		}
		time.Sleep(2*users*server.takes + server.takes/2) // until each of them has had its turns
		for _, network := range []string{"crowded", "another"} {
			for user := range retwis.UserID(3) {
				start := time.Now()
				task(network, users+1+user)
				if took, most := time.Since(start), 3*server.takes; took > most {
					t.Errorf("the only task of user %d of network %s took %v beside those of %d others, want at most %v", user, network, took, users, most)
				}
			}
		}
		all.Wait()
	})
}

// Attack: the short exchanges of more than a hundred tasks were in flight, and operations waited behind them.
func TestHook_LimitsExchangesOfTasks(t *testing.T) {
	t.Parallel()
	server := &slowServer{takes: time.Millisecond}
	db, _ := server.open(t, 1, 1, 1)
	h := newHook(db.scripts, newMetrics(nil), &db.processes.operations)
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	client.AddHook(h) // before the server
	client.AddHook(server)
	db.Client = client
	synctest.Test(t, func(t *testing.T) {
		call := Call{Script: script.Push, Keys: []string{db.partitions[0].Tag}, Args: []any{1}}
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				ctx := retwis.WithActor(t.Context(), retwis.Actor{User: 1, Network: strconv.Itoa(i % 3)})
				if err := db.Do(ctx, call).Err(); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if used := h.tasks.Used(); used != taskExchanges {
			t.Errorf("%d exchanges of tasks are in flight, want %d", used, taskExchanges)
		}
		start := time.Now()
		if err := db.Do(t.Context(), call).Err(); err != nil || time.Since(start) > server.takes {
			t.Errorf("another exchange took %v beside them: %v", time.Since(start), err)
		}
		all.Wait()
		ctx, leave := h.enterTask(retwis.WithActor(t.Context(), retwis.Actor{User: 1, Network: "a"}))
		if _, again := h.enterTask(ctx); h.tasks.Used() != 1 { // the driver opens a connection
			t.Errorf("%d exchanges count for one that opens a connection", h.tasks.Used())
			again()
		}
		leave()
		if h.tasks.Used() != 0 {
			t.Errorf("%d exchanges still count", h.tasks.Used())
		}
	})
}

// An order of two calls matters only within a partition: a removal is stored before lists announce it.
func TestDoInPieces_KeepsTheOrderOfEachSlot(t *testing.T) {
	t.Parallel()
	const calls, slots = 20, 5
	server := &slowServer{takes: time.Millisecond, evenTake: 10 * time.Millisecond}
	_, run := server.open(t, calls, slots, pieceWork)
	synctest.Test(t, func(t *testing.T) {
		run(t.Context())
		last := map[int]int{}
		for _, call := range server.calls {
			if before, ok := last[call%slots]; ok && before > call {
				t.Errorf("call %d ran after call %d, of the same slot", call, before)
			}
			last[call%slots] = call
		}
		if len(server.calls) != calls || server.most != piecesInFlight {
			t.Errorf("%d calls, %d at once, want %d and %d", len(server.calls), server.most, calls, piecesInFlight)
		}
	})
}

// Two calls to two partitions, which is what a post of a small author takes, are one exchange.
func TestDoInPieces_SendsLittleWorkAtOnce(t *testing.T) {
	t.Parallel()
	server := &slowServer{takes: time.Millisecond}
	_, run := server.open(t, 5, 5, pieceWork/5)
	synctest.Test(t, func(t *testing.T) {
		run(t.Context())
		if server.pipelines != 1 || len(server.calls) != 5 {
			t.Errorf("%d calls in %d pipelines, want 5 in one", len(server.calls), server.pipelines)
		}
	})
}

// A server that does not answer does not make many rounds wait for each other, nor one round for each of its calls.
func TestDoInPieces_FailsOnceInAnOutage(t *testing.T) {
	t.Parallel()
	outage := &net.OpError{Op: "read", Err: errors.New("no answer")}
	server := &slowServer{takes: 3 * time.Second, err: outage}
	_, run := server.open(t, 20, 4, pieceWork)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var rounds sync.WaitGroup
		for range 10 {
			rounds.Go(func() {
				for i, cmd := range run(t.Context()) {
					if !errors.Is(cmd.Err(), outage) {
						t.Errorf("call %d: %v, want the outage", i, cmd.Err())
					}
				}
			})
		}
		rounds.Wait()
		if elapsed := time.Since(start); elapsed > 4*time.Second {
			t.Errorf("ten rounds failed after %v", elapsed)
		}
	})
}

// slowServer stands for a Redis whose pipelines take some time.
type slowServer struct {
	takes    time.Duration
	evenTake time.Duration // in addition, calls with even numbers
	err      error

	mu                        sync.Mutex
	inFlight, most, pipelines int
	calls                     []int
}

// open returns a database of the server, and a function that makes calls to some slots in turn.
func (s *slowServer) open(t *testing.T, calls, slots, workOfEach int) (*DB, func(context.Context) []*redis.Cmd) {
	t.Helper()
	client := redis.NewClient(&redis.Options{})
	client.AddHook(s)
	t.Cleanup(func() { _ = client.Close() })
	scripts, err := script.Load()
	if err != nil {
		t.Fatal(err)
	}
	db := &DB{Client: client, scripts: scripts, pieces: newPieceTurns(), partitions: NewPartitions(slots)}
	var all []Call
	for i := range calls {
		all = append(all, Call{Script: script.Push, Keys: []string{db.partitions[i%slots].Tag}, Args: []any{i}, Work: workOfEach})
	}
	return db, func(ctx context.Context) []*redis.Cmd { return db.DoInPieces(ctx, all) }
}

func (s *slowServer) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *slowServer) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error { return s.serve([]redis.Cmder{cmd}) }
}

func (s *slowServer) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(_ context.Context, cmds []redis.Cmder) error { return s.serve(cmds) }
}

func (s *slowServer) serve(cmds []redis.Cmder) error {
	s.mu.Lock()
	s.inFlight++
	s.pipelines++
	s.most = max(s.most, s.inFlight)
	for _, cmd := range cmds {
		args := cmd.Args()
		s.calls = append(s.calls, args[len(args)-1].(int))
	}
	takes := s.takes
	if s.calls[len(s.calls)-1]%2 == 0 {
		takes += s.evenTake
	}
	s.mu.Unlock()
	time.Sleep(takes)
	s.mu.Lock()
	s.inFlight--
	s.mu.Unlock()
	if s.err != nil {
		setErrors(cmds, s.err)
	}
	return s.err
}
