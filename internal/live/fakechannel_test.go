package live

import (
	"context"
	"time"

	"retwis/internal/pubsub"
)

// connection is a connection to the channel of a partition. It delivers messages in order.
type connection struct {
	queue  []inFlight
	wake   chan struct{}
	broken bool
}

type inFlight struct {
	message pubsub.Message
	arrives time.Time
}

// publish sends a message to the recipients that have presence.
func (db *fakeDatabase) publish(partition int, m pubsub.Message) {
	var present []pubsub.Recipient
	for _, r := range m.Recipients {
		if time.Now().Before(db.online[r.Timeline]) {
			present = append(present, r)
		}
	}
	c := db.connections[partition]
	if len(present) == 0 || c == nil || db.silent[partition] {
		return
	}
	if db.lossy[partition] > 0 {
		db.lossy[partition]--
		return
	}
	m.Recipients = present
	c.send(m, db.delay())
}

func (c *connection) send(m pubsub.Message, delay time.Duration) {
	arrives := time.Now().Add(delay)
	if n := len(c.queue); n > 0 && c.queue[n-1].arrives.After(arrives) {
		arrives = c.queue[n-1].arrives
	}
	c.queue = append(c.queue, inFlight{m, arrives})
	c.wakeUp()
}

func (c *connection) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// lose discards the next n messages of a partition.
func (db *fakeDatabase) lose(partition, n int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.lossy[partition] += n
}

// disconnect breaks the connection of a partition. Messages in flight are lost, or, with
// late, arrive twice on the next connection.
func (db *fakeDatabase) disconnect(partition int, late bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	c := db.connections[partition]
	if c == nil {
		return
	}
	c.broken = true
	if !late {
		c.queue = nil
	}
	delete(db.connections, partition)
	c.wakeUp()
}

// send sends a message without changing the lists.
func (db *fakeDatabase) send(partition int, m pubsub.Message) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.connections[partition].send(m, 0)
}

// Probe implements [Source].
func (db *fakeDatabase) Probe(ctx context.Context, node string, partition int) error {
	if err := db.call(ctx, "Probe"); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	c := db.connections[partition]
	if c == nil || db.silent[partition] {
		return nil
	}
	c.send(pubsub.Message{Kind: pubsub.Probe}, db.delay())
	return nil
}

// silence makes the connection of a partition deliver nothing until a new connection replaces
// it.
func (db *fakeDatabase) silence(partition int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.silent[partition] = true
}

func (db *fakeDatabase) Listen(ctx context.Context, node string, partition int, handle func(pubsub.Message)) error {
	db.mu.Lock()
	db.listens[partition]++
	db.mu.Unlock()
	defer func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.listens[partition]--
		delete(db.connections, partition)
	}()
	var late []inFlight
	for ctx.Err() == nil {
		if err := db.call(ctx, "Listen"); err != nil {
			return err
		}
		c := &connection{wake: make(chan struct{}, 1)}
		db.mu.Lock()
		for range 2 {
			for _, m := range late {
				c.send(m.message, db.delay())
			}
		}
		db.connections[partition], db.silent[partition] = c, false
		db.mu.Unlock()
		handle(pubsub.Message{Kind: pubsub.Joined})
		late = db.receive(ctx, c, handle)
	}
	return nil
}

// receive passes the messages of a connection to handle until the connection breaks. It
// returns the messages that were in flight.
func (db *fakeDatabase) receive(ctx context.Context, c *connection, handle func(pubsub.Message)) []inFlight {
	for {
		db.mu.Lock()
		if c.broken {
			defer db.mu.Unlock()
			return c.queue
		}
		var next *inFlight
		wait := time.Hour
		if len(c.queue) > 0 {
			if wait = time.Until(c.queue[0].arrives); wait <= 0 {
				m := c.queue[0]
				next, c.queue = &m, c.queue[1:]
			}
		}
		db.mu.Unlock()
		if next != nil {
			handle(next.message)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-c.wake:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}
