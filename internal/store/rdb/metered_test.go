package rdb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
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
	if unitsOf(script.CommonFollowers) <= cost.RedisPiece {
		t.Error("a walk over followers is no long exchange")
	}
}
