package live

import (
	"context"
	"time"

	"retwis/internal/sleep"
)

// The faults of a fakeDatabase: latency, failing calls and held replies.

// call simulates a round trip, which takes time and may fail.
func (db *fakeDatabase) call(ctx context.Context, name string) error {
	db.mu.Lock()
	db.calls[name]++
	failing := db.failing[name]
	latency := db.delay()
	db.mu.Unlock()
	if err := sleep.For(ctx, latency); err != nil {
		return err
	}
	if failing {
		return errOutage
	}
	return nil
}

func (db *fakeDatabase) delay() time.Duration {
	if db.latency == 0 {
		return 0
	}
	return time.Duration(db.rng.Int64N(int64(db.latency)))
}

// fail makes calls fail or succeed.
func (db *fakeDatabase) fail(failing bool, names ...string) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, name := range names {
		db.failing[name] = failing
	}
}

// callCount returns the number of calls of a method.
func (db *fakeDatabase) callCount(name string) int {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.calls[name]
}

// answer unlocks the database and simulates the time that a reply takes.
func (db *fakeDatabase) answer(ctx context.Context, about string) {
	if db.afterRead != nil {
		db.afterRead()
	}
	back, held, holding := db.delay(), db.held, db.holding
	db.mu.Unlock()
	_ = sleep.For(ctx, back)
	if held != nil && holding == about {
		<-held
	}
}

// hold delays the replies about "timelines" or "posts" until release is called. It does not
// delay replies computed after a call of pass.
func (db *fakeDatabase) hold(what string) (release func()) {
	held := make(chan struct{})
	db.mu.Lock()
	defer db.mu.Unlock()
	db.held, db.holding = held, what
	return func() {
		db.pass()
		close(held)
	}
}

func (db *fakeDatabase) pass() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.held = nil
}
