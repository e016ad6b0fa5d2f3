package rdb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/sleep"
)

// Sharded reports whether the channels of partitions are sharded, as on a cluster.
func (db *DB) Sharded() bool { return db.replicas != nil }

// Listen subscribes to a channel and calls handle with every message until ctx is done. It subscribes again
// after a failure. After every subscription it calls handle with joined.
func (db *DB) Listen(ctx context.Context, sharded bool, channel string, handle func(payload string, joined bool)) error {
	for {
		err := db.subscribed(ctx, sharded, channel, handle)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // a canceled context is no failure
		}
		db.log.WarnContext(ctx, "subscription ended, subscribing again", "channel", channel, "err", err)
		_ = sleep.For(ctx, 100*time.Millisecond) // the loop checks the context
	}
}

// errMoved is the error of a subscription whose slot has migrated to another node.
var errMoved = errors.New("the slot of the channel has migrated to another node")

// subscribed handles the messages of one subscription until the first error. The driver would reconnect by itself, but it
// ignores the reply of a node whose slot has migrated, and keeps a connection that delivers nothing. The caller subscribes
// again, with the current state of the cluster.
func (db *DB) subscribed(ctx context.Context, sharded bool, channel string, handle func(string, bool)) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	subscribe := db.Blocking.Subscribe
	if sharded {
		subscribe = db.Blocking.SSubscribe
	}
	sub := subscribe(ctx, channel)
	context.AfterFunc(ctx, func() { _ = sub.Close() }) // also ends a Receive
	var heard atomic.Int64
	var confirmed atomic.Bool
	go db.closeIfSilent(ctx, sub, &heard, &confirmed)
	for {
		message, err := sub.Receive(ctx)
		if err != nil {
			db.ReloadMasters(ctx)
			return err
		}
		heard.Add(1)
		switch m := message.(type) {
		case *redis.Subscription:
			switch m.Kind {
			case "subscribe", "ssubscribe":
				confirmed.Store(true)
				handle("", true)
			case "unsubscribe", "sunsubscribe":
				db.ReloadMasters(ctx)
				return errMoved
			}
		case *redis.Message:
			handle(m.Payload, false)
		}
	}
}

// closeIfSilent closes a subscription that is not confirmed in time, or whose server does not answer a ping.
func (db *DB) closeIfSilent(ctx context.Context, sub *redis.PubSub, heard *atomic.Int64, confirmed *atomic.Bool) {
	for {
		before := heard.Load()
		if sleep.For(ctx, db.options.Timeout) != nil {
			return
		}
		if confirmed.Load() && heard.Load() != before {
			continue
		}
		_ = sub.Ping(ctx) // if it fails, no answer comes
		if sleep.For(ctx, db.options.Timeout) != nil {
			return
		}
		if !confirmed.Load() || heard.Load() == before {
			_ = sub.Close()
			return
		}
	}
}

// PubSubRoundTrip subscribes to a channel, publishes a message on it and waits for the message. It returns the
// time from publishing to receiving.
func (db *DB) PubSubRoundTrip(ctx context.Context, channel string) (time.Duration, error) {
	subscribe := db.Blocking.Subscribe
	if db.Sharded() {
		subscribe = db.Blocking.SSubscribe
	}
	sub := subscribe(ctx, channel)
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		return 0, fmt.Errorf("subscribe to a channel: %w", err)
	}
	start := time.Now()
	if err := db.Blocking.Do(ctx, db.Publish, channel, "?").Err(); err != nil {
		return 0, fmt.Errorf("publish a message: %w", err)
	}
	if _, err := sub.ReceiveMessage(ctx); err != nil {
		return 0, fmt.Errorf("receive a published message: %w", errors.Join(err, context.Cause(ctx)))
	}
	return time.Since(start), nil
}
