// Package logsample bounds how often a log repeats a message. During an outage every request fails in the same way, and
// a line for each hides everything else.
package logsample

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	interval    = 10 * time.Second
	burst       = 10   // records of a level and message that pass in an interval
	maxMessages = 1000 // that are counted at a time; records of others pass
)

// New returns a handler that passes on all records below the level warn, and the first 10 of each other level and
// message within 10 seconds. At the end of the 10 seconds it logs how many more there were.
func New(next slog.Handler) slog.Handler {
	return handler{next, &sampler{next: next, seen: map[key]int{}}}
}

type handler struct {
	slog.Handler

	sampler *sampler
}

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelWarn && !h.sampler.pass(key{record.Level, record.Message}) {
		return nil
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.sampler}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.sampler}
}

type key struct {
	level   slog.Level
	message string
}

// sampler counts the records of the current interval of each message.
type sampler struct {
	next slog.Handler

	mu   sync.Mutex
	seen map[key]int
}

func (s *sampler) pass(k key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, counted := s.seen[k]
	if !counted {
		if len(s.seen) >= maxMessages {
			return true
		}
		time.AfterFunc(interval, func() { s.end(k) })
	}
	s.seen[k] = n + 1
	return n < burst
}

// end ends the interval of a message.
func (s *sampler) end(k key) {
	s.mu.Lock()
	suppressed := s.seen[k] - burst
	delete(s.seen, k)
	s.mu.Unlock()
	if suppressed <= 0 {
		return
	}
	record := slog.NewRecord(time.Now(), k.level, "log: repeated messages suppressed", 0)
	record.AddAttrs(slog.String("message", k.message), slog.Int("count", suppressed), slog.Duration("within", interval))
	_ = s.next.Handle(context.Background(), record)
}
