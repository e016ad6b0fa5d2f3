package live

import (
	"sync"

	"retwis/internal/retwis"
)

const (
	inboxLimit   = 100_000 // messages and their recipients
	messageBatch = 256     // messages taken at once
)

// inbox queues messages of a partition, so that the channel they come from never
// waits for what they cause.
type inbox struct {
	ready chan struct{} // has an element when there may be messages

	mu       sync.Mutex
	messages []retwis.LiveMessage
	weight   int
}

// put queues a message. When there are too many it drops all and leaves word that
// messages were lost; it then reports true.
func (b *inbox) put(m retwis.LiveMessage) (overflow bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.weight += 1 + len(m.Recipients)
	b.messages = append(b.messages, m)
	if overflow = b.weight > inboxLimit; overflow {
		b.messages = []retwis.LiveMessage{{Kind: retwis.LiveJoined}}
		b.weight = 1
	}
	select {
	case b.ready <- struct{}{}:
	default:
	}
	return overflow
}

// take returns the next messages, oldest first.
func (b *inbox) take() []retwis.LiveMessage {
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
