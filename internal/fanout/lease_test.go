package fanout

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/outbox"
)

// leaseTable is the part of a database that holds leases. It expires them by the clock of the test.
type leaseTable struct {
	Outbox

	mu         sync.Mutex
	workers    map[string]time.Time // until when they are registered
	leases     []leaseRow           // by outbox
	unreadable int                  // outbox whose master is down, -1 if none
	refused    bool                 // registrations fail
}

type leaseRow struct {
	worker string
	until  time.Time
}

func newLeaseTable(outboxes int) *leaseTable {
	return &leaseTable{workers: map[string]time.Time{}, leases: make([]leaseRow, outboxes), unreadable: -1}
}

var errMasterDown = errors.New("the master is down")

func (l *leaseTable) Partitions() int { return len(l.leases) }

func (l *leaseTable) Masters(context.Context) (int, error) { return 1, nil }

func (l *leaseTable) RegisterWorker(_ context.Context, worker string, ttl time.Duration) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused {
		return 0, errMasterDown
	}
	l.workers[worker] = time.Now().Add(ttl)
	registered := 0
	for _, until := range l.workers {
		if time.Now().Before(until) {
			registered++
		}
	}
	return registered, nil
}

func (l *leaseTable) UnregisterWorker(context.Context, string) error { return nil }

func (l *leaseTable) FreeLeases(_ context.Context, outboxes []int) (free []int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, i := range outboxes {
		if i == l.unreadable {
			err = errMasterDown
		} else if !time.Now().Before(l.leases[i].until) {
			free = append(free, i)
		}
	}
	return free, err
}

func (l *leaseTable) AcquireLeases(_ context.Context, outboxes []int, worker string, ttl time.Duration) []outbox.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]outbox.Lease, len(outboxes))
	for at, i := range outboxes {
		switch {
		case i == l.unreadable:
			all[at].Err = errMasterDown
		case l.leases[i].worker == worker || !time.Now().Before(l.leases[i].until):
			l.leases[i] = leaseRow{worker, time.Now().Add(ttl)}
			all[at].Held = true
		}
	}
	return all
}

func (l *leaseTable) ReleaseLease(_ context.Context, i int, worker string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leases[i].worker == worker {
		l.leases[i] = leaseRow{}
	}
	return nil
}

// held returns how many leases a worker holds.
func (l *leaseTable) held(worker string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, row := range l.leases {
		if row.worker == worker && time.Now().Before(row.until) {
			n++
		}
	}
	return n
}

func (l *leaseTable) ResumeOutbox(context.Context, int) error { return nil }

func (l *leaseTable) ReadOutbox(ctx context.Context, _ int, _ string, _ int, block time.Duration) ([]outbox.Entry, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(block):
		return nil, nil
	}
}

// noTasks are the tasks of a worker without entries and likes.
type noTasks struct{ Tasks }

func (noTasks) CountLikes(context.Context, []int) (bool, error) { return false, nil }

func runWorker(t *testing.T, l *leaseTable, name string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := New(l, noTasks{}, Options{Name: name})
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestLeases_OfADeadWorkerMoveWithinOneLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const outboxes = 64
		l := newLeaseTable(outboxes)
		lease := Options{}.withDefaults().Lease
		w := New(l, noTasks{}, Options{})
		// Two workers renewed their leases and died at the same moment.
		for _, dead := range []string{"first", "second"} {
			if _, err := l.RegisterWorker(t.Context(), dead, w.leaseTTL()); err != nil {
				t.Fatal(err)
			}
		}
		for i := range outboxes {
			l.AcquireLeases(t.Context(), []int{i}, []string{"first", "second"}[i%2], w.leaseTTL())
		}
		// The offset moves the rounds of the living worker against the expiry.
		time.Sleep(17 * time.Millisecond)
		stop := runWorker(t, l, "alive")
		defer stop()
		time.Sleep(lease - 17*time.Millisecond)
		synctest.Wait()
		if got := l.held("alive"); got != outboxes {
			t.Errorf("after one lease, the living worker holds %d of %d outboxes", got, outboxes)
		}
	})
}

func TestLeases_SurviveAFailedRegistration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeaseTable(8)
		stop := runWorker(t, l, "alive")
		defer stop()
		synctest.Wait()
		l.mu.Lock()
		l.refused, l.unreadable = true, 3
		l.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := l.held("alive"); got != 7 {
			t.Errorf("the worker holds %d leases, want all but that of the failed master", got)
		}
	})
}

func TestLeases_AreSharedFairly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLeaseTable(16)
		for _, name := range []string{"a", "b", "c"} {
			defer runWorker(t, l, name)()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, name := range []string{"a", "b", "c"} {
			if got := l.held(name); got < 4 || got > 6 {
				t.Errorf("worker %s holds %d of 16 leases", name, got)
			}
		}
	})
}
