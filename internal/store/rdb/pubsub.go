package rdb

import (
	"context"
	"errors"
	"fmt"
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
var errMoved = errors.New("the server ended the subscription: the slot has moved")

// subscribed listens on one subscription for as long as it lasts. go-redis reconnects
// within it, and says so by another confirmation.
func (db *DB) subscribed(ctx context.Context, sharded bool, channel string, handle func(string, bool)) error {
	var sub *redis.PubSub
	if sharded {
		sub = db.Blocking.SSubscribe(ctx, channel)
	} else {
		sub = db.Blocking.Subscribe(ctx, channel)
	}
	defer func() { _ = sub.Close() }()
	messages := sub.ChannelWithSubscriptions(
		redis.WithChannelSize(1024),
		redis.WithChannelHealthCheckInterval(db.options.Timeout),
	)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case message, open := <-messages:
			if !open {
				return errors.New("the connection is closed")
			}
			switch m := message.(type) {
			case *redis.Subscription:
				switch m.Kind {
				case "subscribe", "ssubscribe":
					handle("", true)
				case "unsubscribe", "sunsubscribe":
					return errMoved
				}
			case *redis.Message:
				handle(m.Payload, false)
			}
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
