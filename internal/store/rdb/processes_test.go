package rdb

import (
	"context"
	"testing"
	"time"

	"retwis/internal/redistest"
)

func TestJoinProcesses_TellsWhatOthersDo(t *testing.T) {
	t.Parallel()
	urls := map[string]string{
		"single server": redistest.Server(t).URL(), "cluster": redistest.Cluster(t, redistest.ClusterOptions{Masters: 3}).URL(),
	}
	for name, url := range urls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api, idle := join(t, url), join(t, url)
			var workers [2]*DB
			for i := range workers {
				workers[i] = join(t, url)
			}
			for _, db := range []*DB{api, idle, workers[0]} {
				expectProcesses(t, db, 0, func() {})
			}
			work := func() {
				api.processes.served.note()
				for _, worker := range workers {
					worker.processes.delivering.Add(int64(joinEvery))
				}
			}
			expectProcesses(t, idle, 3, work)
			expectProcesses(t, workers[0], 2, work)
			expectProcesses(t, api, 3, work)
			for _, db := range []*DB{api, idle, workers[0]} {
				expectProcesses(t, db, 0, func() {})
			}
		})
	}
}

// join returns a database of a process that others know.
func join(t *testing.T, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{URL: url, Timeout: 5 * time.Second, PoolSize: 10})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- db.JoinProcesses(ctx) }()
	t.Cleanup(func() {
		leave()
		if err := <-left; err != nil {
			t.Error(err)
		}
		_ = db.Close()
	})
	return db
}

// expectProcesses waits until a process knows that so many deliver beside operations, with itself. It does work while it waits.
func expectProcesses(t *testing.T, db *DB, want int, work func()) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(joinEvery / 10) {
		work()
		got := db.BesideOperations()
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d processes deliver beside operations, want %d", got, want)
		}
	}
}
