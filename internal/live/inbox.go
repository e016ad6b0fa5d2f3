package live

import (
	"sync"

	"retwis/internal/pubsub"
)

const (
	inboxLimit   = 100_000 // maximum number of messages and recipients
	messageBatch = 256     // maximum number of messages that take returns
)

// inbox queues the messages of a partition, so that their processing does not block the
// channel.
type inbox struct {
	ready chan struct{} // has an element when there may be messages

	mu       sync.Mutex
	messages []pubsub.Message
	weight   int // number of messages and recipients
}

// put queues a message. If the queue exceeds its limit, put replaces all messages by one
// that makes the feeds catch up, and reports true.
func (b *inbox) put(m pubsub.Message) (overflow bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.weight += 1 + len(m.Recipients)
	b.messages = append(b.messages, m)
	if overflow = b.weight > inboxLimit; overflow {
		b.messages = []pubsub.Message{{Kind: pubsub.Joined}}
		b.weight = 1
	}
	select {
	case b.ready <- struct{}{}:
	default:
	}
	return overflow
}

// take removes and returns the oldest messages.
func (b *inbox) take() []pubsub.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.messages), messageBatch)
	batch := b.messages[:n:n]
	b.messages = b.messages[n:]
	if len(b.messages) == 0 {
		b.messages = nil
	}
	for _, m := range batch {
		b.weight -= 1 + len(m.Recipients)
	}
	return batch
}
