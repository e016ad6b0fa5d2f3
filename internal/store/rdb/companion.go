package rdb

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Companion is a call that goes along with the first exchange made with a context, so that it takes none of its own.
type Companion struct {
	call Call
	sent atomic.Bool
	cmd  atomic.Pointer[redis.Cmd]
}

type companionKey struct{}

// WithCompanion returns a context whose first exchange by [DB.Do] or [DB.DoAll] carries a call. On a cluster, [DB.Do] carries it
// only if the keys of both calls share their hash tag.
func WithCompanion(ctx context.Context, call Call) (context.Context, *Companion) {
	c := &Companion{call: call}
	return context.WithValue(ctx, companionKey{}, c), c
}

// Settle keeps later exchanges from carrying the call. It returns the result of the call, or nil if no exchange that has ended
// carried it.
func (c *Companion) Settle() *redis.Cmd {
	c.sent.Store(true)
	return c.cmd.Load()
}

// claimCompanion returns the companion of a context that no exchange has carried yet, or nil. The caller has to carry it. Only
// companions that may accompany a call are claimed; without a call all may.
func (db *DB) claimCompanion(ctx context.Context, call *Call) *Companion {
	c, _ := ctx.Value(companionKey{}).(*Companion)
	if c == nil || c.sent.Load() || call != nil && !db.sameMaster(c.call, *call) || !c.sent.CompareAndSwap(false, true) {
		return nil
	}
	return c
}

// sameMaster reports whether it is certain that one master holds the keys of two calls.
func (db *DB) sameMaster(a, b Call) bool {
	return db.replicas == nil || absentKey(a.Keys[0]) == absentKey(b.Keys[0])
}
