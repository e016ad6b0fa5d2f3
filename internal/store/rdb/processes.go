package rdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"retwis/internal/store/script"
)

const (
	tellEvery = 500 * time.Millisecond
	tellFor   = 4 * tellEvery // an exchange may fail or be slow
	tellMuch  = tellEvery / 4 // of which pieces are in flight or rest: the process delivers
	tellMost  = 8             // networks of a process

	serves   = "serves"   // the process has operations
	delivers = "delivers" // it delivers much
	network  = "network " // the rest is a network that has operations
)

// processes is what a process knows of those that use the same Redis. Its zero value is ready, and knows of none.
type processes struct {
	operations recentUse    // of this process
	delivering atomic.Int64 // nanoseconds for which pieces of this process were in flight or rested, since it told the others the last time

	serve   atomic.Bool  // others have operations
	deliver atomic.Int64 // others that deliver
}

// ClientNetworks are the networks of the clients of a process.
type ClientNetworks interface {
	// Active returns up to n networks that have had operations or events since the last call: those that caused most work.
	Active(n int) []netip.Prefix
	// SetElsewhere sets in how many other processes each network has operations or events.
	SetElsewhere(processes map[netip.Prefix]int)
}

// JoinProcesses tells the other processes on this Redis what this one does, twice a second until ctx is done, and learns the same of
// them. While it does not know, a process behaves as if it were alone. A process without clients has no networks, which is nil.
func (db *DB) JoinProcesses(ctx context.Context, networks ClientNetworks) error {
	name := fmt.Sprintf("%016x", rand.Uint64())
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			db.joinProcesses(ctx, name, networks)
		}
	}
}

func (db *DB) joinProcesses(ctx context.Context, name string, networks ClientNetworks) {
	args := []any{name, tellFor.Milliseconds()}
	if db.processes.operations.within(tellEvery) {
		args = append(args, serves)
	}
	if time.Duration(db.processes.delivering.Swap(0)) > tellMuch {
		args = append(args, delivers)
	}
	if networks != nil {
		for _, prefix := range networks.Active(tellMost) {
			args = append(args, network+prefix.String())
		}
	}
	// If it fails, deliveries and operations do, too, and the health checks report it.
	told, _ := db.Do(ctx, Call{script.JoinProcesses, []string{ProcessesKey}, args}).StringSlice()
	serving, delivering, elsewhere := false, int64(0), map[netip.Prefix]int{}
	for _, what := range told {
		switch address, isNetwork := strings.CutPrefix(what, network); {
		case isNetwork:
			if prefix, err := netip.ParsePrefix(address); err == nil {
				elsewhere[prefix]++
			}
		case what == serves:
			serving = true
		case what == delivers:
			delivering++
		}
	}
	db.processes.serve.Store(serving)
	db.processes.deliver.Store(delivering)
	if networks != nil {
		networks.SetElsewhere(elsewhere)
	}
}

// BesideOperations reports whether operations have exchanges with this Redis now, or had some a moment ago: those of this process, or of another one
// some seconds ago.
func (db *DB) BesideOperations() bool {
	return db.processes.operations.within(operationsFresh) || db.processes.serve.Load()
}

// recentUse tells when something was last used. It is safe for concurrent use.
type recentUse struct{ at atomic.Int64 } // nanoseconds since 1970

func (u *recentUse) note() { u.at.Store(time.Now().UnixNano()) }

func (u *recentUse) within(d time.Duration) bool { return time.Since(time.Unix(0, u.at.Load())) < d }
