package rdb

import (
	"context"
	"math"
	"sync"
	"time"

	"retwis/internal/fair"
	"retwis/internal/retwis"
)

const (
	taskWait      = 5 * time.Second // for the tasks of others, of which a hundred may take half a second
	taskLead      = time.Second     // of work: by no more than this has a user to wait for others whose tasks took less
	taskExchanges = 8               // in flight, of the tasks of all outboxes; operations wait behind them

	allTasks = retwis.UserID(0) // the holder of a gate, of whom the users are parts
)

// taskTurns are the turns of tasks at each master, by its address. Its zero value is ready.
type taskTurns struct {
	mu      sync.Mutex
	masters map[string]masterTurns
}

// masterTurns are the turns at one master: one task runs, that of the user whose tasks took least.
type masterTurns struct {
	users *fair.Gate[retwis.UserID] // one task of each user has a turn or waits for it
	tasks *fair.Gate[retwis.UserID]
}

// at returns the turns at a master.
func (t *taskTurns) at(master string) masterTurns {
	t.mu.Lock()
	defer t.mu.Unlock()
	turns, known := t.masters[master]
	if !known {
		if t.masters == nil {
			t.masters = map[string]masterTurns{}
		}
		turns = masterTurns{fair.NewGate[retwis.UserID](math.MaxInt, 1), fair.NewGate[retwis.UserID](1, 1)}
		t.masters[master] = turns
	}
	return turns
}

// TaskTurn waits until a task of background work that takes milliseconds may begin, which changes keys of a partition: one at a time at its
// master. Outboxes have more than a hundred such tasks at a time, and operations would wait behind all of them, for Redis and for a core.
// Of the users who caused tasks, the one whose tasks took least goes first, so that nobody waits for all changes of others. The returned function
// has to be called after the task.
func (db *DB) TaskTurn(ctx context.Context, p Partition, user retwis.UserID) (done func()) {
	address := ""
	if master := db.masterOf(ctx, p.Written()); master != nil {
		address = master.Options().Addr
	}
	turns := db.tasks.at(address)
	waiting, cancel := context.WithTimeout(ctx, taskWait)
	defer cancel()
	if turns.users.Acquire(waiting, user, 1) != nil {
		return func() {}
	}
	if turns.tasks.AcquireFor(waiting, allTasks, user, 1) != nil {
		turns.users.Release(user, 1)
		return func() {}
	}
	began := time.Now()
	return func() {
		turns.tasks.Charge(allTasks, user, int(time.Since(began)), int(taskLead))
		turns.tasks.Release(allTasks, 1)
		turns.users.Release(user, 1)
	}
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
