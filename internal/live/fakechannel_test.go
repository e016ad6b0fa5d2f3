package live

import (
	"context"
	"time"

	"retwis/internal/pubsub"
)

// line is one connection of a subscriber to the channel of a partition. Messages on it
// keep their order.
type line struct {
	queue  []onTheWay
	wake   chan struct{}
	broken bool
}

type onTheWay struct {
	message pubsub.Message
	arrives time.Time
}

// publish sends a message to those of its recipients that are present.
func (w *world) publish(partition int, m pubsub.Message) {
	var present []pubsub.Recipient
	for _, r := range m.Recipients {
		if time.Now().Before(w.online[r.Timeline]) {
			present = append(present, r)
		}
	}
	l := w.lines[partition]
	if len(present) == 0 || l == nil || w.deaf[partition] {
		return
	}
	if w.lossy[partition] > 0 {
		w.lossy[partition]--
		return
	}
	m.Recipients = present
	l.send(m, w.delay())
}

func (l *line) send(m pubsub.Message, delay time.Duration) {
	arrives := time.Now().Add(delay)
	if n := len(l.queue); n > 0 && l.queue[n-1].arrives.After(arrives) {
		arrives = l.queue[n-1].arrives
	}
	l.queue = append(l.queue, onTheWay{m, arrives})
	l.nudge()
}

func (l *line) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// lose makes the next n messages of a partition disappear.
func (w *world) lose(partition, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lossy[partition] += n
}

// cut breaks the connection of a partition. What is on its way is lost, or comes late:
// on the next connection, twice.
func (w *world) cut(partition int, late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[partition]
	if l == nil {
		return
	}
	l.broken = true
	if !late {
		l.queue = nil
	}
	delete(w.lines, partition)
	l.nudge()
}

// send sends a message as it is, whatever the lists say.
func (w *world) send(partition int, m pubsub.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines[partition].send(m, 0)
}

// Probe sends a message that concerns no timeline.
func (w *world) Probe(ctx context.Context, node string, partition int) error {
	if err := w.call(ctx, "Probe"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[partition]
	if l == nil || w.deaf[partition] {
		return nil
	}
	l.send(pubsub.Message{Kind: pubsub.Probe}, w.delay())
	return nil
}

// deafen makes the connection of a partition deliver nothing, until there is another.
func (w *world) deafen(partition int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaf[partition] = true
}

func (w *world) Listen(ctx context.Context, node string, partition int, handle func(pubsub.Message)) error {
	w.mu.Lock()
	w.listens[partition]++
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.listens[partition]--
		delete(w.lines, partition)
	}()
	var late []onTheWay
	for ctx.Err() == nil {
		if err := w.call(ctx, "Listen"); err != nil {
			return err
		}
		l := &line{wake: make(chan struct{}, 1)}
		w.mu.Lock()
		for range 2 {
			for _, m := range late {
				l.send(m.message, w.delay())
			}
		}
		w.lines[partition], w.deaf[partition] = l, false
		w.mu.Unlock()
		handle(pubsub.Message{Kind: pubsub.Joined})
		late = w.receive(ctx, l, handle)
	}
	return nil
}

// receive hands over the messages of a line until it is broken, and returns those that
// were still on their way.
func (w *world) receive(ctx context.Context, l *line, handle func(pubsub.Message)) []onTheWay {
	for {
		w.mu.Lock()
		if l.broken {
			defer w.mu.Unlock()
			return l.queue
		}
		var next *onTheWay
		wait := time.Hour
		if len(l.queue) > 0 {
			if wait = time.Until(l.queue[0].arrives); wait <= 0 {
				m := l.queue[0]
				next, l.queue = &m, l.queue[1:]
			}
		}
		w.mu.Unlock()
		if next != nil {
			handle(next.message)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-l.wake:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}
