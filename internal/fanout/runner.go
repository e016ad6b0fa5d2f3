package fanout

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

const (
	window         = 1000                   // entries held in memory
	maxCalls       = 128                    // calls in one round
	maxPushes      = 6000                   // pushes that one round may cause, so that small authors do not wait long
	maxEntryPushes = 1000                   // pushes that one entry may cause in a round before others had their turn
	callCost       = 10                     // what a call costs by itself, in pushes
	maxTasks       = 8                      // tasks that run beside the rounds
	maxTries       = 5                      // before an entry that is refused is given up
	minBackoff     = 50 * time.Millisecond  // before the first repeat
	maxBackoff     = 5 * time.Second        // between repeats of what fails for as long as it lasts
	maxRecheck     = time.Second            // between looks at a registration under way
	trimEvery      = 200 * time.Millisecond // while there is work
	trimCount      = 256                    // entries carried out, after which the outbox is trimmed
	trimBackoff    = time.Second            // after that failed
	verifyEvery    = 5 * time.Second        // whether the outbox still is what was read
)

// runner serves one outbox.
type runner struct {
	*Worker
	outbox int
	log    *slog.Logger

	entries    []*workItem // oldest first
	queues     map[orderingKey][]*workItem
	activeKeys []orderingKey // of those with work, for taking turns
	turn       int
	tasks      int
	finished   chan taskResult
	arrivals   chan []retwis.OutboxEntry

	last              string // entry that was admitted
	trimming          bool   // an attempt is under way
	trimmed           chan trimResult
	lastTrim          time.Time // when the last attempt began
	trimAt            time.Time // no sooner, after a failure
	unreplicatedSince time.Time // since when no replica says that it has what was carried out; 0 when one did

	repairBelow string // posts of entries below it may have been carried out, and lost again
	rereadBelow string // not '': the outbox has to be read anew, and posts below it to be mended
}

type taskResult struct {
	work *workItem
	done bool // false: not yet, without a failure
	err  error
}

func newRunner(w *Worker, outbox int, mendBelow string) *runner {
	return &runner{
		Worker:      w,
		outbox:      outbox,
		log:         w.log.With("outbox", outbox),
		queues:      map[orderingKey][]*workItem{},
		finished:    make(chan taskResult, maxTasks),
		arrivals:    make(chan []retwis.OutboxEntry),
		trimmed:     make(chan trimResult, 1),
		lastTrim:    time.Now(),
		repairBelow: mendBelow,
	}
}

// run works until ctx is done, or the outbox has to be read anew.
func (r *runner) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for r.tasks > 0 {
			<-r.finished
			r.tasks--
		}
		if r.trimming {
			<-r.trimmed
		}
		for _, w := range r.entries {
			w.endSpan()
		}
	}()
	if !r.resume(ctx) {
		return
	}
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		r.read(ctx)
	}()
	defer func() { cancel(); <-reading }()

	for ctx.Err() == nil && r.rereadBelow == "" {
		worked := r.round(ctx)
		r.trim(ctx, !worked)
		if worked && r.options.Pause > 0 {
			_ = sleep.For(ctx, r.options.Pause)
		}
		r.receive(ctx, !worked)
	}
}

// receive takes in new entries and what ended beside the rounds. When idle it waits for one of
// them, or until a repeat is due.
func (r *runner) receive(ctx context.Context, idle bool) {
	arrivals := r.arrivals
	if len(r.entries) > window-window/4 {
		arrivals = nil
	}
	if !idle {
		select {
		case entries := <-arrivals:
			r.admit(entries)
		case result := <-r.finished:
			r.taskDone(ctx, result)
		case result := <-r.trimmed:
			r.trimDone(ctx, result)
		default:
		}
		return
	}
	timer := time.NewTimer(r.untilDue())
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case entries := <-arrivals:
		r.admit(entries)
	case result := <-r.finished:
		r.taskDone(ctx, result)
	case result := <-r.trimmed:
		r.trimDone(ctx, result)
	case <-timer.C:
	}
}

func (r *runner) untilDue() time.Duration {
	due := maxBackoff
	at := func(t time.Time) { due = min(due, max(time.Until(t), time.Millisecond)) }
	for _, l := range r.activeKeys {
		head := r.queues[l][0]
		if !head.running && (head.inRounds() || r.tasks < maxTasks) {
			at(head.notBefore)
		}
	}
	switch {
	case r.trimming || r.last == "":
	case len(r.entries) > 0 && r.entries[0].done:
		at(r.trimAt)
	default:
		at(r.lastTrim.Add(verifyEvery))
	}
	return due
}

// round carries the entries at the heads of the lanes on by one step each, in turn, and
// reports whether there was anything to do.
func (r *runner) round(ctx context.Context) bool {
	r.dequeueDone()
	now := time.Now()
	var ready []*workItem
	for i := range r.activeKeys {
		head := r.queues[r.activeKeys[(r.turn+i)%len(r.activeKeys)]][0]
		if !head.running && !head.notBefore.After(now) {
			ready = append(ready, head)
		}
	}
	r.turn++
	if len(ready) == 0 {
		return false
	}
	var deliver []*workItem
	for _, w := range ready {
		switch {
		case w.Malformed != nil:
			w.refusals = maxTries
			r.fail(ctx, w, errors.Join(retwis.ErrEntryRefused, w.Malformed))
		case w.inRounds():
			deliver = append(deliver, w)
		case r.tasks < maxTasks:
			r.startTask(ctx, w)
		}
	}
	if len(deliver) > 0 {
		r.deliver(ctx, deliver)
	}
	return len(deliver) > 0
}

// fail notes a failure. What is refused time and again is given up, so that it holds up
// nothing; anything else is tried for as long as it takes.
func (r *runner) fail(ctx context.Context, w *workItem, err error) {
	if ctx.Err() != nil {
		return
	}
	w.failures++
	r.counts.retries.Add(1)
	pause := min(minBackoff<<min(w.failures-1, 10), maxBackoff)
	w.notBefore = time.Now().Add(pause)
	if !errors.Is(err, retwis.ErrEntryRefused) {
		r.log.WarnContext(ctx, "an entry waits", "entry", w.ID, "kind", w.Kind, "for", pause, "err", err)
		return
	}
	if w.refusals++; w.refusals < maxTries {
		r.log.WarnContext(ctx, "an entry was refused", "entry", w.ID, "kind", w.Kind, "times", w.refusals, "err", err)
		return
	}
	if err := r.store.Bury(ctx, w.OutboxEntry, err.Error()); err != nil {
		r.log.ErrorContext(ctx, "keeping a dead letter failed: trying again", "entry", w.ID, "err", err)
		return
	}
	r.counts.deadLetters.Add(1)
	r.log.ErrorContext(ctx, "an entry was given up: see retwis deadletter", "entry", w.ID, "kind", w.Kind, "err", err)
	r.complete(w)
}

func (r *runner) complete(w *workItem) {
	w.done = true
	w.endSpan()
	r.counts.entries.Add(1)
}
