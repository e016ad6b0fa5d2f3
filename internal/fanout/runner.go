package fanout

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/sleep"
)

const (
	window         = 1000                   // unfinished entries of an outbox in memory, at least
	maxHeld        = 20_000                 // unfinished ones of all outboxes of a worker, above which each has no more than that; an entry takes about 1.5 KB
	maxUntrimmed   = 100_000                // entries of all outboxes, the finished ones included, which stay until all older ones are trimmed: as many as one outbox may have
	usualTargets   = 16                     // targets of a finished entry for which it counts as one; it counts as one more for as many more
	manyWaiting    = maxHeld / 5            // unfinished ones above which a worker is behind: it needs up to ten seconds for them
	crowd          = 250                    // of one network, beside operations of others
	manyDeletions  = manyWaiting / 2        // of those, deletions of posts above which no step of an account deletion begins
	readsAhead     = 4                      // reads of the outbox that wait for the round: what is behind a thousand entries of others may be somebody's only one
	maxCalls       = 8                      // calls of a round, and entries: the rounds of all outboxes take turns at a server
	maxEntryPushes = 500                    // pushes of an entry before the other entries of the round had a turn
	callCost       = 35                     // fixed cost of a call, in pushes
	listWork       = 4                      // work for a list, in pushes: the script reads the members of the list, or the processes that serve its subscribers
	searchWork     = 3                      // work for the search of a list, in pushes
	mostSearches   = 50                     // in one call: the default of the store, see push.lua
	firstChunk     = 20                     // lists of the first call to a target: most targets have fewer
	nextChunk      = 100                    // lists of each further call
	maxTasks       = 8                      // concurrent tasks of an outbox
	mostTasks      = 2 * maxTasks           // the same with those of networks that have no other there
	tasksAtOnce    = 128                    // of all outboxes of a worker, beside those of networks that have no other in one
	maxTries       = 5                      // rejections before an entry moves to the dead-letter queue
	minBackoff     = 50 * time.Millisecond  // pause before the first retry
	maxBackoff     = 5 * time.Second        // longest pause between retries
	maxRecheck     = time.Second            // longest pause between checks of an unfinished registration
	stepPause      = 50 * time.Millisecond  // until a step of an account deletion that may not begin is tried again
	trimEvery      = 200 * time.Millisecond // interval of trims while there is work
	trimCount      = 256                    // completed entries that start a trim before the interval, and that it removes at most: 1000 would take Redis 5 ms in each partition
	trimBackoff    = time.Second            // pause after a failed trim
	trimGap        = 2 * time.Millisecond   // between the begins of short trims of a worker
	trimRest       = 4                      // as many times as long as it took, a worker begins no other short trim
	maxTrimRest    = 100 * time.Millisecond // after one trim
	verifyEvery    = 5 * time.Second        // interval of comparing the outbox with the entries read
)

// runner serves one outbox. The package comment describes its loop. Its goroutine owns all
// fields; the reader, tasks and trims report to it by channels.
type runner struct {
	*Worker
	outboxID int
	log      *slog.Logger

	entries    []*workItem            // oldest first
	queues     []*queue               // those with entries, in the order in which they had none before
	queueByKey map[orderingKey]*queue // the same
	unfinished int                    // entries
	tasks      int                    // running tasks
	tasksOf    map[string]int         // the same by the networks that caused them
	turn       *turn                  // to run a round
	finished   chan taskResult
	arrivals   chan []outbox.Entry

	last     string // id of the last entry admitted
	trimming bool   // a trim is in progress
	trimmed  chan trimResult
	lastTrim time.Time // start of the last trim
	trimAt   time.Time // earliest time of the next trim, after a failure or beside those of other outboxes

	// Posts of entries below repairBelow may have been delivered and lost again in a failover.
	// The runner processes them as repairs.
	repairBelow string
	// If rereadBelow is not empty, the runner stops, and its successor rereads the outbox and
	// repairs posts of entries below it.
	rereadBelow string
}

type taskResult struct {
	item *workItem
	done bool // false without an error: the entry is not ready yet
	err  error
}

func newRunner(w *Worker, outboxID int, repairBelow string) *runner {
	return &runner{
		Worker:      w,
		outboxID:    outboxID,
		log:         w.log.With("outbox", outboxID),
		queueByKey:  map[orderingKey]*queue{},
		tasksOf:     map[string]int{},
		turn:        w.turns.newTurn(),
		finished:    make(chan taskResult, mostTasks),
		arrivals:    make(chan []outbox.Entry, readsAhead),
		trimmed:     make(chan trimResult, 1),
		lastTrim:    time.Now(),
		repairBelow: repairBelow,
	}
}

// run processes entries until ctx is done or the outbox must be reread.
func (r *runner) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		r.turn.end()
		for r.tasks > 0 {
			<-r.finished
			r.tasks--
		}
		if r.trimming {
			<-r.trimmed
		}
		for _, w := range r.entries {
			w.endSpan()
			if !w.done {
				r.wait(w, -1)
			}
		}
		r.release(r.entries)
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
		_, waits := r.turn.waitsUntil()
		r.trim(ctx, !worked && !waits)
		if worked && r.options.Pause > 0 {
			_ = sleep.For(ctx, r.options.Pause)
		}
		r.receive(ctx, !worked)
	}
}

// receive takes all new entries that have been read, and the results of tasks and trims. When idle, it waits for one of
// them or until a retry is due.
func (r *runner) receive(ctx context.Context, idle bool) {
	for !idle {
		select {
		case entries := <-r.readAhead():
			r.admit(entries)
		case result := <-r.finished:
			r.taskDone(ctx, result)
		case result := <-r.trimmed:
			r.trimDone(ctx, result)
		default:
			return
		}
	}
	timer := time.NewTimer(r.untilDue())
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case entries := <-r.readAhead():
		r.admit(entries)
	case result := <-r.finished:
		r.taskDone(ctx, result)
	case result := <-r.trimmed:
		r.trimDone(ctx, result)
	case <-r.turn.begins:
	case <-timer.C:
	}
}

// readAhead returns the channel of new entries, or nil while there is no room for more.
func (r *runner) readAhead() <-chan []outbox.Entry {
	full := r.unfinished > window-window/4 && r.waiting.entries.Load() > maxHeld
	if full || len(r.entries) > window-window/4 && r.held.Load() > maxUntrimmed {
		return nil
	}
	return r.arrivals
}

// untilDue returns the time until the next retry or trim.
func (r *runner) untilDue() time.Duration {
	due := time.Now().Add(maxBackoff)
	at := func(t time.Time) {
		if t.Before(due) {
			due = t
		}
	}
	turnAt, waits := r.turn.waitsUntil()
	for _, q := range r.queues {
		head := q.head()
		switch {
		case head.running:
		case head.inRounds() && waits:
			at(later(head.notBefore, turnAt))
		case head.inRounds() || r.mayStart(head):
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
	return max(time.Until(due), time.Millisecond)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// round advances the entries at the heads of the queues by one step each, as far as there is room. The networks that caused them take turns, and so do
// the users of a network, so that somebody's only entry does not wait for all those of others. It reports whether it made calls for deliveries. It makes none before the outbox has
// its turn.
func (r *runner) round(ctx context.Context) bool {
	r.dequeueDone()
	var deliver, tasks []*workItem
	for _, w := range r.readyHeads() {
		switch {
		case w.Malformed != nil:
			w.rejections = maxTries
			r.fail(ctx, w, errors.Join(outbox.ErrRejected, w.Malformed))
		case w.inRounds():
			deliver = append(deliver, w)
		default:
			tasks = append(tasks, w)
		}
	}
	r.startTasks(ctx, tasks)
	deliver = r.turns.first(deliver, maxCalls)
	r.turns.forget(int(r.held.Load()))
	if len(deliver) == 0 {
		r.turn.end()
		return false
	}
	if !r.turn.begin(deliver[0]) {
		return false
	}
	defer r.turn.end()
	r.deliver(ctx, deliver)
	return true
}

// readyHeads returns the entries at the heads of the queues that may advance now.
func (r *runner) readyHeads() []*workItem {
	now, oldest := time.Now(), sync.OnceValue(r.oldest)
	var ready []*workItem
	for _, q := range r.queues {
		head := q.head()
		switch {
		case head.isDeletion():
			r.restOrBeSilent(head, now)
		case head.Reposted != 0 && r.waiting.entries.Load() < manyWaiting: // more must not wait: posts of others would not be read
			head.notBefore = later(head.notBefore, r.turns.restsUntil(head.actor.Network))
		case head.Kind == outbox.KindDeleteAccount && !r.mayDeletePosts(head, oldest):
			head.notBefore = later(head.notBefore, now.Add(stepPause))
		}
		if !head.running && !head.notBefore.After(now) {
			ready = append(ready, head)
		}
	}
	return ready
}

// restOrBeSilent lets a deletion rest for the announcements of others that its network caused. One that has waited long is no longer announced: subscribers
// learn of it when their timeline is compared with its list.
func (r *runner) restOrBeSilent(deletion *workItem, now time.Time) {
	switch {
	case deletion.silent:
	case now.Sub(deletion.readAt) < announceFor:
		deletion.notBefore = later(deletion.notBefore, r.turns.restsUntil(deletion.actor.Network))
	default:
		deletion.silent = true
		r.counts.silent.Add(1)
	}
}

// mayDeletePosts reports whether a step of an account deletion may begin. Each adds entries for the posts that it deletes, and hundreds of accounts may be
// deleted at once. Posts of others would wait behind tens of thousands of these entries in their outboxes, before the worker reads them. So a step waits for
// the entries of the one before. While many entries are in memory, only the oldest of an outbox goes on, because those behind it cannot be trimmed.
func (r *runner) mayDeletePosts(step *workItem, oldest func() *workItem) bool {
	if r.queueByKey[orderingKey{author: step.User}] != nil || r.waiting.step.Load() || r.waiting.deletions.Load() >= manyDeletions {
		return false
	}
	return r.held.Load() < maxHeld/2 || step == oldest()
}

// oldest returns the oldest unfinished entry, or nil.
func (r *runner) oldest() *workItem {
	for _, w := range r.entries {
		if !w.done {
			return w
		}
	}
	return nil
}

// fail records a failure and schedules a retry. An entry that scripts reject maxTries times
// moves to the dead-letter queue, so that it does not block the entries behind it. The runner
// retries after any other error without limit.
func (r *runner) fail(ctx context.Context, w *workItem, err error) {
	if ctx.Err() != nil {
		return
	}
	w.failures++
	r.counts.retries.Add(1)
	pause := min(minBackoff<<min(w.failures-1, 10), maxBackoff)
	w.notBefore = time.Now().Add(pause)
	if !errors.Is(err, outbox.ErrRejected) {
		r.log.WarnContext(ctx, "fanout: entry failed, retrying", "entry", w.ID, "kind", w.Kind, "after", pause, "err", err)
		return
	}
	if w.rejections++; w.rejections < maxTries {
		r.log.WarnContext(ctx, "fanout: entry rejected, retrying", "entry", w.ID, "kind", w.Kind, "rejections", w.rejections, "err", err)
		return
	}
	if err := r.store.AddDeadLetter(ctx, w.Entry, err.Error()); err != nil {
		r.log.ErrorContext(ctx, "fanout: writing to the dead-letter queue failed, retrying", "entry", w.ID, "err", err)
		return
	}
	r.counts.deadLetters.Add(1)
	r.log.ErrorContext(ctx, "fanout: entry moved to the dead-letter queue, see retwis deadletter", "entry", w.ID, "kind", w.Kind, "err", err)
	r.complete(w)
}

// complete marks an entry as done.
func (r *runner) complete(w *workItem) {
	w.done = true
	r.wait(w, -1)
	further := len(w.targets) / usualTargets
	r.held.Add(int64(further - w.further))
	w.further = further
	w.endSpan()
	r.counts.entries.Add(1)
}

// release notes that entries are no longer in memory.
func (r *runner) release(entries []*workItem) {
	held := len(entries)
	for _, w := range entries {
		held += w.further
	}
	r.held.Add(-int64(held))
}

// wait counts an entry that has to be processed, or no longer has to.
func (r *runner) wait(w *workItem, n int) {
	r.unfinished += n
	r.waiting.add(w, n)
}
