package rdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"retwis/internal/cost"
	"retwis/internal/sleep"
	"retwis/internal/store/script"
)

const (
	tellEarliest = 100 * time.Millisecond // a network that becomes active in one process is known to the others
	tellLatest   = 500 * time.Millisecond // also if there are no others
	tellAfter    = 5 * time.Millisecond   // for each thing that others tell: the more there are, the longer each waits
	tellFor      = 4 * tellLatest         // an exchange may fail or be slow
	tellMuch     = tellLatest / 4         // of which pieces are in flight or rest: the process delivers
	tellMost     = 8                      // networks of a process
	severalFor   = 10 * time.Second       // for as long after operations of several networks, they are expected again

	runs     = "runs"     // the process is there: others wait less long for what it tells
	serves   = "serves"   // the process has operations
	delivers = "delivers" // it delivers much
	behind   = "behind"   // its worker is behind
	network  = "network " // the rest is a network that has operations, a space, and the name of the host
)

// processes is what a process knows of those that use the same Redis. Its zero value is ready, and knows of none.
type processes struct {
	operations recentUse    // of this process
	several    recentUse    // when more than one network had operations, in this process and others
	delivering atomic.Int64 // nanoseconds for which pieces of this process were in flight or rested, for at least tellLatest

	serve   atomic.Bool  // others have operations
	deliver atomic.Int64 // others that deliver
}

// ClientNetworks are the networks of the clients of a process.
type ClientNetworks interface {
	// Joined receives networks that have an operation or event while only one other network is active.
	Joined() <-chan netip.Prefix
	// Note notes that a network has an operation or event in some process.
	Note(network netip.Prefix)
	// Active returns up to n networks that have had operations or events since the last call: those that caused most work.
	Active(n int) []netip.Prefix
	// SetElsewhere sets in how many other processes each network has operations or events.
	SetElsewhere(processes map[netip.Prefix]cost.Elsewhere)
	// SetBehind sets whether workers are behind.
	SetBehind(behind bool)
}

// JoinProcesses tells the other processes on this Redis what this one does, two to ten times a second until ctx is done, and learns the same of
// them. A network that joins a single other one is announced at once. While it does not know, a process behaves as if it were alone. A process without
// clients has no networks, which is nil. workerBehind reports whether the worker of the process is behind; it is nil without one.
func (db *DB) JoinProcesses(ctx context.Context, networks ClientNetworks, workerBehind func() bool) error {
	if networks != nil {
		var announcing sync.WaitGroup
		defer announcing.Wait()
		announcing.Go(func() { db.announceNetworks(ctx, networks.Joined()) })
		announcing.Go(func() { db.hearNetworks(ctx, networks) })
	}
	name := fmt.Sprintf("%016x", rand.Uint64())
	var delivering time.Duration // in the time that was counted last
	var counted time.Time
	for wait := tellLatest; sleep.For(ctx, wait) == nil; {
		if now := time.Now(); now.Sub(counted) >= tellLatest {
			delivering, counted = time.Duration(db.processes.delivering.Swap(0)), now
		}
		states := []any{runs}
		if db.processes.operations.within(wait) {
			states = append(states, serves)
		}
		if delivering > tellMuch {
			states = append(states, delivers)
		}
		isBehind := workerBehind != nil && workerBehind()
		if isBehind {
			states = append(states, behind)
		}
		told := db.exchangeStates(ctx, name, states, networks)
		if networks != nil {
			networks.SetBehind(isBehind || slices.Contains(told, behind))
		}
		wait = tellLatest
		if len(told) > 0 {
			wait = min(max(time.Duration(len(told))*tellAfter, tellEarliest), tellLatest)
		}
	}
	return nil
}

// announceNetworks tells the other processes of networks until ctx is done.
func (db *DB) announceNetworks(ctx context.Context, joined <-chan netip.Prefix) {
	for {
		select {
		case <-ctx.Done():
			return
		case network := <-joined:
			_ = db.Client.Publish(ctx, ProcessesChannel, network.String()).Err() // if it fails, they learn it from the next exchange
		}
	}
}

// hearNetworks notes what other processes announce until ctx is done.
func (db *DB) hearNetworks(ctx context.Context, networks ClientNetworks) {
	_ = db.Listen(ctx, false, ProcessesChannel, func(payload string, joined bool) {
		if prefix, err := netip.ParsePrefix(payload); err == nil && !joined {
			networks.Note(prefix)
		}
	}) // it ends only with ctx
}

// exchangeStates tells the other processes the states of this one and its active networks, and learns and returns what they tell.
func (db *DB) exchangeStates(ctx context.Context, name string, states []any, networks ClientNetworks) []string {
	args := append([]any{name, tellFor.Milliseconds()}, states...)
	host, _ := os.Hostname() // without a name, a process has its cores for itself
	active := map[netip.Prefix]struct{}{}
	if networks != nil {
		for _, prefix := range networks.Active(tellMost) {
			args = append(args, network+prefix.String()+" "+host)
			active[prefix] = struct{}{}
		}
	}
	// If it fails, deliveries and operations do, too, and the health checks report it.
	told, _ := db.Do(ctx, Call{Script: script.JoinProcesses, Keys: []string{ProcessesKey}, Args: args}).StringSlice()
	delivering, elsewhere := int64(0), map[netip.Prefix]cost.Elsewhere{}
	for _, what := range told {
		if what == delivers {
			delivering++
		} else if of, isNetwork := strings.CutPrefix(what, network); isNetwork {
			address, theirs, _ := strings.Cut(of, " ")
			if prefix, err := netip.ParsePrefix(address); err == nil {
				elsewhere[prefix] = elsewhere[prefix].With(theirs == host && host != "")
				active[prefix] = struct{}{}
			}
		}
	}
	if len(active) > 1 {
		db.processes.several.note()
	}
	db.processes.serve.Store(slices.Contains(told, serves))
	db.processes.deliver.Store(delivering)
	if networks != nil {
		networks.SetElsewhere(elsewhere)
	}
	return told
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
