package rdb

import (
	"context"
	"maps"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"retwis/internal/cost"
	"retwis/internal/redistest"
)

// fakeNetworks are networks that are always active.
type fakeNetworks struct {
	active []netip.Prefix
	joined chan netip.Prefix

	mu        sync.Mutex
	elsewhere map[netip.Prefix]cost.Elsewhere
	behind    bool
	noted     []netip.Prefix
}

func (f *fakeNetworks) Joined() <-chan netip.Prefix { return f.joined }

func (f *fakeNetworks) Note(network netip.Prefix) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, network)
}

func (f *fakeNetworks) hasNoted(network netip.Prefix) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.noted, network)
}

func (f *fakeNetworks) Active(n int) []netip.Prefix { return f.active[:min(n, len(f.active))] }

func (f *fakeNetworks) SetElsewhere(processes map[netip.Prefix]cost.Elsewhere) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.elsewhere = processes
}

func (f *fakeNetworks) SetBehind(behind bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behind = behind
}

func (f *fakeNetworks) isBehind() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.behind
}

func (f *fakeNetworks) known() map[netip.Prefix]cost.Elsewhere {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.elsewhere
}

func TestJoinProcesses_TellsWhatOthersDo(t *testing.T) {
	t.Parallel()
	urls := map[string]string{
		"single server": redistest.Server(t).URL(), "cluster": redistest.Cluster(t, redistest.ClusterOptions{Masters: 3}).URL(),
		"in-process": "redis://" + miniredis.RunT(t).Addr(),
	}
	a, b := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8:1:2::/64")
	for name, url := range urls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api, other := &fakeNetworks{active: []netip.Prefix{a, b}, joined: make(chan netip.Prefix, 1)}, &fakeNetworks{active: []netip.Prefix{b}}
			var isBehind atomic.Bool
			processes := []*DB{join(t, url, api, nil), join(t, url, other, nil), join(t, url, nil, isBehind.Load), join(t, url, nil, nil)}
			serving, workers := processes[0], processes[2:]
			works := func(api, worker bool) {
				if api {
					serving.processes.operations.note()
				}
				for _, db := range workers {
					if worker {
						db.processes.delivering.Add(int64(tellLatest))
					}
				}
			}
			for _, step := range []struct{ serves, deliver bool }{{false, false}, {true, false}, {true, true}, {false, true}, {false, false}} {
				expect := func(db *DB, deliver int64) {
					t.Helper()
					for deadline := time.Now().Add(time.Minute); ; time.Sleep(operationsFresh / 2) {
						works(step.serves, step.deliver)
						got := db.processes.deliver.Load()
						if !step.deliver {
							deliver = 0
						}
						if db.BesideOperations() == step.serves && got == deliver {
							return
						}
						if time.Now().After(deadline) {
							t.Fatalf("while %+v, %d others deliver, want %d; beside operations: %t", step, got, deliver, db.BesideOperations())
						}
					}
				}
				expect(processes[1], 2)
				expect(workers[0], 1)
				expect(serving, 2)
			}
			for i, db := range processes {
				if !db.processes.several.within(time.Minute) {
					t.Errorf("process %d does not know that several networks have operations", i)
				}
			}
			for _, want := range []bool{true, false} {
				isBehind.Store(want)
				for deadline := time.Now().Add(time.Minute); api.isBehind() != want || other.isBehind() != want; time.Sleep(tellLatest / 10) {
					if time.Now().After(deadline) {
						t.Fatalf("while a worker is behind: %t, other processes know otherwise", want)
					}
				}
			}
			for deadline := time.Now().Add(time.Minute); !other.hasNoted(a); time.Sleep(tellLatest / 10) {
				select {
				case api.joined <- a: // again, until the other process has subscribed
				default:
				}
				if time.Now().After(deadline) {
					t.Fatal("another process does not hear of a network that joined")
				}
			}
			once := cost.Elsewhere{Processes: 1, OnHost: 1}
			for f, want := range map[*fakeNetworks]map[netip.Prefix]cost.Elsewhere{api: {b: once}, other: {a: once, b: once}} {
				for deadline := time.Now().Add(time.Minute); ; time.Sleep(tellLatest / 10) {
					got := f.known()
					if maps.Equal(got, want) {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("networks elsewhere: %v, want %v", got, want)
					}
				}
			}
		})
	}
}

func TestJoinProcesses_TellsHostsApart(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	here, api := join(t, url, nil, nil), &fakeNetworks{}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const on = network + "192.0.2.1/32 "
	for name, states := range map[string][]any{"neighbour": {on + host}, "remote": {on + "remote.example"}, "unknown": {on}} {
		here.exchangeStates(t.Context(), name, states, nil)
	}
	here.exchangeStates(t.Context(), "this", nil, api)
	want := map[netip.Prefix]cost.Elsewhere{netip.MustParsePrefix("192.0.2.1/32"): {Processes: 3, OnHost: 1}}
	if got := api.known(); !maps.Equal(got, want) {
		t.Errorf("networks elsewhere: %v, want %v", got, want)
	}
}

// join returns a database of a process that others know.
func join(t *testing.T, url string, networks ClientNetworks, behind func() bool) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{URL: url, Timeout: 5 * time.Second, PoolSize: 10})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- db.JoinProcesses(ctx, networks, behind) }()
	t.Cleanup(func() {
		leave()
		if err := <-left; err != nil {
			t.Error(err)
		}
		_ = db.Close()
	})
	return db
}
