package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Probe sends a node a live message of its own, over the channel of a partition and from
// another connection than it listens on: where it does not arrive, nothing else does.
func (s *Store) Probe(ctx context.Context, node string, number int) error {
	channel := s.partitions[number].live(node)
	if err := s.client.Do(ctx, s.publish, channel, "?").Err(); err != nil {
		return fmt.Errorf("probe channel %s: %w", channel, err)
	}
	return nil
}

// pubSubAge is how old a good answer of [Store.CheckPubSub] may be.
const pubSubAge = 10 * time.Second

// goodNews remembers when something was last found to work.
type goodNews struct {
	mu sync.Mutex
	at time.Time
}

// CheckPubSub reports whether a message that is published comes back, now or some seconds
// ago.
func (s *Store) CheckPubSub(ctx context.Context) error {
	s.pubSub.mu.Lock()
	defer s.pubSub.mu.Unlock()
	if time.Since(s.pubSub.at) < pubSubAge {
		return nil
	}
	if _, err := pubSubRoundTrip(ctx, s.blocking, s.publish, s.public().tag+":probe:"+rand.Text()); err != nil {
		return err
	}
	s.pubSub.at = time.Now()
	return nil
}

// pubSubRoundTrip publishes a message on a channel of its own and waits for it. It returns
// how long that took, the subscription left out.
func pubSubRoundTrip(ctx context.Context, client redis.UniversalClient, publish, channel string) (time.Duration, error) {
	subscribe := client.Subscribe
	if publish == "SPUBLISH" {
		subscribe = client.SSubscribe
	}
	sub := subscribe(ctx, channel)
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		return 0, fmt.Errorf("subscribe to a channel: %w", err)
	}
	start := time.Now()
	if err := client.Do(ctx, publish, channel, "?").Err(); err != nil {
		return 0, fmt.Errorf("publish a message: %w", err)
	}
	if _, err := sub.ReceiveMessage(ctx); err != nil {
		return 0, fmt.Errorf("a published message did not come back: %w", errors.Join(err, context.Cause(ctx)))
	}
	return time.Since(start), nil
}
