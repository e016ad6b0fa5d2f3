package rdb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/store/script"
)

// The driver opens connections within the exchanges of an operation. Their first commands must not wait for the units that
// these exchanges hold, and are not work of the operation.
func TestMetered_LeavesOutTheCommandsOfNewConnections(t *testing.T) {
	t.Parallel()
	const parallel = 16 // exchanges that one client may have in flight
	db, err := Open(t.Context(), Options{URL: redistest.Server(t).URL(), Timeout: 20 * time.Second, PoolSize: parallel})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	meter := cost.NewMeter(cost.Options{Shares: cost.NewShares(), Charge: func(int) error { return nil }})
	ctx, cancel := context.WithTimeout(cost.With(t.Context(), meter), 15*time.Second)
	defer cancel()
	var running sync.WaitGroup
	for i := range parallel {
		running.Go(func() { // each occupies a connection
			err := db.Client.BLPop(ctx, time.Second, fmt.Sprintf("%s:missing %d", db.partitions[0].Tag, i)).Err()
			if !errors.Is(err, redis.Nil) {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if opened := db.Client.PoolStats().Misses; opened < 2 {
		t.Fatalf("%d connections were opened, too few for the test", opened)
	}
	if sent := meter.Close().Work.Commands; sent != parallel {
		t.Errorf("%d commands were counted, want %d", sent, parallel)
	}
}

// An exchange holds as much work as Redis does in about a millisecond.
func TestPieces_HoldOneLongScript(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), Options{URL: redistest.Server(t).URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, tt := range []struct {
		script script.Name // none for a command
		want   int
	}{{"", 128}, {script.ReadList, 8}, {script.FindUsers, 2}, {script.EventsSince, 4}, {script.CommonFollowers, 1}} {
		pipe := db.Client.Pipeline()
		for range 200 {
			if tt.script == "" {
				pipe.HMGet(t.Context(), "key", "field")
			} else {
				db.scripts[tt.script].EvalSha(t.Context(), pipe, []string{"key"})
			}
		}
		if got := db.hook.pieceLength(pipe.Cmds()); got != tt.want {
			t.Errorf("an exchange sends %d commands %q, want %d", got, tt.script, tt.want)
		}
	}
	if unitsOf(script.CommonFollowers, 0) <= cost.RedisPiece {
		t.Error("a walk over followers is no long exchange")
	}
	// Attack: eight searches of 50 long profiles each, in one exchange, took Redis 12 to 36 ms.
	if unitsOf(script.ReadProfiles, 2*50) <= cost.RedisPiece {
		t.Error("a search of 50 profiles is no long exchange")
	}
	if n := cost.RedisPiece / unitsOf(script.LookUpScores, 500); n > 1 {
		t.Errorf("an exchange sends %d scripts that look up 500 members each, want 1", n)
	}
}

// Attack: 48 pages of a list were admitted together and read one after the other, also after the first had used up the budget.
func TestMetered_SendsNothingAfterTheOperationHadToStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := ratelimit.Client{User: 1}
		shares := cost.NewShares()
		spent := errors.New("the budget is used up")
		meter := cost.NewMeter(cost.Options{Client: client, Shares: shares, Charge: func(int) error { return spent }})
		ctx := cost.With(t.Context(), meter)
		leave, err := cost.Enter(shares.Paid(t.Context(), client), cost.RedisPiece) // all units of the client are in use
		if err != nil {
			t.Fatal(err)
		}
		h := &hook{}
		cmd, sent := redis.NewCmd(ctx, "get", "key"), false
		done := make(chan error, 1)
		go func() {
			done <- h.metered(ctx, []redis.Cmder{cmd}, func(context.Context) error { sent = true; return nil })
		}()
		synctest.Wait()
		if len(done) > 0 {
			t.Fatal("the command did not wait for the units of its client")
		}
		_ = meter.Add(cost.Work{Rows: 10_000})
		leave()
		if err := <-done; !errors.Is(err, spent) || !errors.Is(cmd.Err(), spent) || sent {
			t.Errorf("got %v and %v, sent: %t", err, cmd.Err(), sent)
		}
		leave, err = cost.Enter(shares.Paid(t.Context(), client), cost.RedisPiece) // the units were given back
		if err != nil {
			t.Fatal(err)
		}
		leave()
	})
}
