package rdb

import (
	"context"
	"sync"
	"time"

	"retwis/internal/fair"
	"retwis/internal/retwis"
)

const (
	taskWait      = 5 * time.Second // for the tasks of others, of which a hundred may take half a second
	taskExchanges = 8               // in flight, of the tasks of all outboxes; operations wait behind them
)

// taskTurns has a gate for each master, by its address: users take turns at it. Its zero value is ready.
type taskTurns struct {
	mu    sync.Mutex
	gates map[string]*fair.Gate[retwis.UserID]
}

// at returns the gate of a master.
func (t *taskTurns) at(master string) *fair.Gate[retwis.UserID] {
	t.mu.Lock()
	defer t.mu.Unlock()
	gate := t.gates[master]
	if gate == nil {
		if t.gates == nil {
			t.gates = map[string]*fair.Gate[retwis.UserID]{}
		}
		gate = fair.NewGate[retwis.UserID](1, 1)
		t.gates[master] = gate
	}
	return gate
}

// TaskTurn waits until a task of background work that takes milliseconds may begin, which changes keys of a partition: one at a time at its
// master. Outboxes have more than a hundred such tasks at a time, and operations would wait behind all of them, for Redis and for a core.
// The users who caused tasks take turns, so that nobody waits for all changes of another one. The returned function has to be called after the task.
func (db *DB) TaskTurn(ctx context.Context, p Partition, user retwis.UserID) (done func()) {
	address := ""
	if master := db.masterOf(ctx, p.Written()); master != nil {
		address = master.Options().Addr
	}
	gate := db.tasks.at(address)
	waiting, cancel := context.WithTimeout(ctx, taskWait)
	defer cancel()
	if gate.Acquire(waiting, user, 1) != nil {
		return func() {}
	}
	return func() { gate.Release(user, 1) }
}

// enterTask waits for a while until an exchange of a task may be sent, also one that takes little time. Outboxes have more than a hundred tasks at
// a time, and Redis serves one exchange after the other. The users who caused the tasks take turns. Other exchanges do not wait. The
// returned context is for the exchange, and the function has to be called after it. If the driver opens a connection with this context, the first
// commands pass the hook, too, and must not wait for what the exchange holds.
func (h *hook) enterTask(ctx context.Context) (entered context.Context, leave func()) {
	user := retwis.ActorOf(ctx)
	if user == 0 {
		return ctx, func() {}
	}
	waiting, cancel := context.WithTimeout(ctx, pieceWait)
	defer cancel()
	if h.tasks.Acquire(waiting, user, 1) != nil {
		return ctx, func() {}
	}
	return retwis.WithActor(ctx, 0), func() { h.tasks.Release(user, 1) }
}
