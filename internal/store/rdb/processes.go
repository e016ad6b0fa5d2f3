package rdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"retwis/internal/store/script"
)

const (
	joinEvery = 500 * time.Millisecond
	joinFor   = 4 * joinEvery // an exchange may fail or be slow
	joinBusy  = joinEvery / 4 // a process delivers if its pieces take longer than that in the meantime

	minPieceRest = time.Millisecond
	maxPieceRest = 50 * time.Millisecond // also beside very many processes, or after a piece that waited for its master
)

// processes is what a process knows of those that use the same Redis. Its zero value is ready, and knows of none.
type processes struct {
	served     recentUse    // when operations of this process had an exchange
	delivering atomic.Int64 // nanoseconds for which pieces of this process were in flight or rested, since it told the others the last time
	owed       atomic.Int64 // nanoseconds of rests of pieces

	serve   atomic.Bool  // others serve operations
	deliver atomic.Int32 // others that deliver
}

// JoinProcesses tells the other processes on this Redis what this one does, twice a second until ctx is done, and learns the same of
// them. While it does not know, a process behaves as if it were alone.
func (db *DB) JoinProcesses(ctx context.Context) error {
	name := fmt.Sprintf("%016x", rand.Uint64())
	ticker := time.NewTicker(joinEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			db.joinProcesses(ctx, name)
		}
	}
}

func (db *DB) joinProcesses(ctx context.Context, name string) {
	serves := db.processes.served.within(joinEvery)
	delivers := time.Duration(db.processes.delivering.Swap(0)) > joinBusy
	others, err := db.Do(ctx, Call{
		script.JoinProcesses, []string{ServingKey, DeliveringKey}, []any{name, flag(serves), flag(delivers), joinFor.Milliseconds()},
	}).Int64Slice()
	if err != nil { // deliveries fail, too, and the health checks report it
		db.processes.serve.Store(false)
		db.processes.deliver.Store(0)
		return
	}
	db.processes.serve.Store(others[0] > 0)
	db.processes.deliver.Store(int32(others[1]))
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// BesideOperations returns how many processes deliver beside operations, with this one. It returns 0 without operations: neither this process has
// exchanges of operations now or had some a moment ago, nor another one some seconds ago.
func (db *DB) BesideOperations() int {
	if db.processes.served.within(operationsFresh) || db.processes.serve.Load() {
		return 1 + int(db.processes.deliver.Load())
	}
	return 0
}

// rest returns for how long no other piece may be in flight after one, while n processes deliver. The others have theirs in flight meanwhile, so
// a server has less than two at a time from all processes. Short rests are taken together, because a timer takes a millisecond. Call rested after a rest.
func (p *processes) rest(n int, took time.Duration) time.Duration {
	due := time.Duration(n-1) * took / 2
	if n <= 1 || time.Duration(p.owed.Add(int64(min(due, maxPieceRest)))) < minPieceRest {
		return 0
	}
	rest := min(time.Duration(p.owed.Swap(0)), maxPieceRest)
	return max(rest, 0) // another piece may have taken it
}

// rested notes a rest. What it took too long counts for the next ones.
func (p *processes) rested(rest, took time.Duration) {
	p.owed.Add(-int64(min(took-rest, minPieceRest)))
}

// recentUse tells when something was last used. It is safe for concurrent use.
type recentUse struct{ at atomic.Int64 } // nanoseconds since 1970

func (u *recentUse) note() { u.at.Store(time.Now().UnixNano()) }

func (u *recentUse) within(d time.Duration) bool { return time.Since(time.Unix(0, u.at.Load())) < d }
