package rdb

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"retwis/internal/fair"
	"retwis/internal/retwis"
)

const (
	taskWait      = 5 * time.Second // for the tasks of others, of which a hundred may take half a second
	taskLead      = time.Second     // of work: by no more than this has a network or user to wait for others whose tasks took less
	taskExchanges = 8               // in flight, of the tasks of all outboxes; operations wait behind them
)

// taskTurns are the turns of tasks at each master, by its address. Its zero value is ready.
type taskTurns struct {
	mu      sync.Mutex
	masters map[string]masterTurns
}

// masterTurns are the turns at one master: one task runs, that of the network whose tasks took least.
type masterTurns struct {
	users    *fair.Gate[retwis.Actor] // one task of each user has a turn or waits for it
	networks *fair.Gate[retwis.Actor] // the same for a network: that of the user whose tasks took least
	tasks    *fair.Gate[retwis.Actor] // of which the networks are parts
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
		turns = masterTurns{
			users: fair.NewGate[retwis.Actor](math.MaxInt, 1), networks: fair.NewGate[retwis.Actor](math.MaxInt, 1), tasks: fair.NewGate[retwis.Actor](1, 1),
		}
		t.masters[master] = turns
	}
	return turns
}

// TaskTurn waits until a task of background work that takes milliseconds may begin, which changes keys of a partition: one at a time at its
// master. Outboxes have more than a hundred such tasks at a time, and operations would wait behind all of them, for Redis and for a core.
// Of the networks from which tasks were caused, the one whose tasks took least goes first, so that nobody waits for all changes of others, and so do the
// users of a network. The returned function has to be called after the task.
func (db *DB) TaskTurn(ctx context.Context, p Partition, actor retwis.Actor) (done func()) {
	address := ""
	if master := db.masterOf(ctx, p.Written()); master != nil {
		address = master.Options().Addr
	}
	turns := db.tasks.at(address)
	waiting, cancel := context.WithTimeout(ctx, taskWait)
	defer cancel()
	network, all := retwis.Actor{Network: actor.Network}, retwis.Actor{}
	var held []func()
	leave := func() {
		for _, release := range slices.Backward(held) {
			release()
		}
	}
	for _, step := range []struct {
		gate      *fair.Gate[retwis.Actor]
		key, part retwis.Actor
	}{{turns.users, actor, actor}, {turns.networks, network, actor}, {turns.tasks, all, network}} {
		if step.gate.AcquireFor(waiting, step.key, step.part, 1) != nil {
			leave()
			return func() {}
		}
		held = append(held, func() { step.gate.Release(step.key, 1) })
	}
	began := time.Now()
	return func() {
		took := int(time.Since(began))
		turns.networks.Charge(network, actor, took, int(taskLead))
		turns.tasks.Charge(all, network, took, int(taskLead))
		leave()
	}
}

// enterTask waits for a while until an exchange of a task may be sent, also one that takes little time. Outboxes have more than a hundred tasks at
// a time, and Redis serves one exchange after the other. The networks that caused the tasks take turns. Other exchanges do not wait. The
// returned context is for the exchange, and the function has to be called after it. If the driver opens a connection with this context, the first
// commands pass the hook, too, and must not wait for what the exchange holds.
func (h *hook) enterTask(ctx context.Context) (entered context.Context, leave func()) {
	network := retwis.Actor{Network: retwis.ActorOf(ctx).Network}
	if network.Network == "" {
		return ctx, func() {}
	}
	waiting, cancel := context.WithTimeout(ctx, pieceWait)
	defer cancel()
	if h.tasks.Acquire(waiting, network, 1) != nil {
		return ctx, func() {}
	}
	return retwis.WithActor(ctx, retwis.Actor{}), func() { h.tasks.Release(network, 1) }
}
