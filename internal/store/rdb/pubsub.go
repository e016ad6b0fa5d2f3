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

// Sharded reports whether channels of a partition are sharded, as they are on a cluster.
func (db *DB) Sharded() bool { return db.replicas != nil }

// Listen subscribes to a channel and calls handle with every message, and with joined
// after every subscription, until ctx is done.
func (db *DB) Listen(ctx context.Context, sharded bool, channel string, handle func(payload string, joined bool)) error {
	for {
		err := db.subscribed(ctx, sharded, channel, handle)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // being told to stop is no failure
		}
		db.log.WarnContext(ctx, "a subscription ended: subscribing again", "channel", channel, "err", err)
		_ = sleep.For(ctx, 100*time.Millisecond) // the next round sees why it broke off
	}
}

// errMoved ends a subscription whose slot has moved to another node.
var errMoved = errors.New("the slot of the channel has moved to another node")

// subscribed listens on one subscription until it fails. The driver would reconnect by itself, but it ignores the answer
// of a node that a slot has just left: it keeps that connection, which delivers nothing. So the first error ends the
// subscription, and the next one asks the cluster again.
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

// PubSubRoundTrip publishes a message on a channel of its own and waits for it. It returns
// how long that took, the subscription left out.
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
		return 0, fmt.Errorf("a published message did not come back: %w", errors.Join(err, context.Cause(ctx)))
	}
	return time.Since(start), nil
}
