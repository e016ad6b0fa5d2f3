package fanout

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

const (
	window    = 1000                   // entries held in memory
	maxCalls  = 128                    // calls in one round
	maxPushes = 6000                   // pushes that one round may cause, so that small authors do not wait long
	maxShare  = 1000                   // pushes that one entry may cause in a round before others had their turn
	callCost  = 10                     // what a call costs by itself, in pushes
	maxTasks  = 8                      // tasks that run beside the rounds
	maxTries  = 5                      // before an entry that is refused is given up
	minPause  = 50 * time.Millisecond  // before the first repeat
	maxPause  = 5 * time.Second        // between repeats of what fails for as long as it lasts
	maxSettle = time.Second            // between looks at a registration under way
	trimEvery = 200 * time.Millisecond // while there is work
	trimCount = 256                    // entries carried out, after which the outbox is trimmed
	trimPause = time.Second            // after that failed
	lookEvery = 5 * time.Second        // whether the outbox still is what was read
)

// work is an entry in memory.
type work struct {
	retwis.OutboxEntry
	targets   []*target // of entries that are delivered; nil until the reach is known
	next      int       // the target to carry on next
	running   bool      // as a task
	done      bool
	refused   int // how often
	failures  int // in a row
	looks     int // that found it not to be done yet
	notBefore time.Time
	progress  repairProgress
	span      trace.Span // nil where its maker was not recorded
}

// inRounds reports whether an entry is carried out by rounds of calls, and not by a task.
func (w *work) inRounds() bool {
	return w.Malformed != nil || w.Kind == retwis.OutboxPost || w.Kind == retwis.OutboxDelete
}

// target is one of the places an entry goes to.
type target struct {
	partition int
	to        retwis.Audience
	user      retwis.UserID // whose mentions
	position  string
	expected  int  // followers there, roughly
	done      bool // and the place says so
}

// single reports whether the target is one timeline.
func (t *target) single() bool { return t.to == retwis.ToPublic || t.to == retwis.ToMentioned }

func (t *target) place(entry string) retwis.Place {
	return retwis.Place{Entry: entry, Partition: t.partition, To: t.to, User: t.user}
}

// lane keeps the order of what must not overtake: the posts of one author, the changes to
// what one timeline follows, or what concerns one account or one list as such. Only one
// of the fields is set.
type lane struct {
	author   retwis.UserID
	timeline retwis.TimelineID
	account  retwis.UserID
	list     retwis.ListID
}

// runner serves one outbox.
type runner struct {
	*Worker
	outbox int
	log    *slog.Logger

	entries  []*work // oldest first
	lanes    map[lane][]*work
	order    []lane // of those with work, for taking turns
	turn     int
	tasks    int
	finished chan taskResult
	arrivals chan []retwis.OutboxEntry

	last     string // entry that was admitted
	trimming bool   // an attempt is under way
	trimmed  chan trimResult
	lastTrim time.Time // when the last attempt began
	trimAt   time.Time // no sooner, after a failure
	unsure   time.Time // since when no replica says that it has what was carried out; 0 when one did

	mendBelow string // posts of entries below it may have been carried out, and lost again
	stale     string // not '': the outbox has to be read anew, and posts below it to be mended
}

type taskResult struct {
	work *work
	done bool // false: not yet, without a failure
	err  error
}

func newRunner(w *Worker, outbox int, mendBelow string) *runner {
	return &runner{
		Worker:    w,
		outbox:    outbox,
		log:       w.log.With("outbox", outbox),
		lanes:     map[lane][]*work{},
		finished:  make(chan taskResult, maxTasks),
		arrivals:  make(chan []retwis.OutboxEntry),
		trimmed:   make(chan trimResult, 1),
		lastTrim:  time.Now(),
		mendBelow: mendBelow,
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
			w.end()
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

	for ctx.Err() == nil && r.stale == "" {
		worked := r.round(ctx)
		r.trim(ctx, !worked)
		if worked && r.options.Pause > 0 {
			_ = sleep.For(ctx, r.options.Pause)
		}
		r.receive(ctx, !worked)
	}
}

// resume brings the outbox into a state to go on from.
func (r *runner) resume(ctx context.Context) bool {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		err := r.store.ResumeOutbox(ctx, r.outbox)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		r.log.ErrorContext(ctx, "resuming an outbox failed: trying again", "err", err)
		_ = sleep.For(ctx, pause)
	}
}

// read hands over the entries of the outbox as they come, until ctx is done.
func (r *runner) read(ctx context.Context) {
	after, pause := "0", minPause
	for ctx.Err() == nil {
		entries, err := r.store.ReadOutbox(ctx, r.outbox, after, window/4, time.Second)
		if err != nil {
			if ctx.Err() == nil {
				r.log.ErrorContext(ctx, "reading an outbox failed: trying again", "err", err)
			}
			_ = sleep.For(ctx, pause)
			pause = min(2*pause, maxPause)
			continue
		}
		pause = minPause
		if len(entries) == 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case r.arrivals <- entries:
			after = entries[len(entries)-1].ID
		}
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
	due := maxPause
	at := func(t time.Time) { due = min(due, max(time.Until(t), time.Millisecond)) }
	for _, l := range r.order {
		head := r.lanes[l][0]
		if !head.running && (head.inRounds() || r.tasks < maxTasks) {
			at(head.notBefore)
		}
	}
	switch {
	case r.trimming || r.last == "":
	case len(r.entries) > 0 && r.entries[0].done:
		at(r.trimAt)
	default:
		at(r.lastTrim.Add(lookEvery))
	}
	return due
}

func (r *runner) admit(entries []retwis.OutboxEntry) {
	for _, e := range entries {
		if e.Kind == retwis.OutboxPost && r.mendBelow != "" && retwis.EarlierEntry(e.ID, r.mendBelow) {
			e.Kind = retwis.OutboxRepair // newer ones of its author may have come before it
		}
		r.last = e.ID
		w := &work{OutboxEntry: e}
		l := laneOf(e)
		if len(r.lanes[l]) == 0 {
			r.order = append(r.order, l)
		}
		r.entries = append(r.entries, w)
		r.lanes[l] = append(r.lanes[l], w)
	}
}

func laneOf(e retwis.OutboxEntry) lane {
	switch e.Kind {
	case retwis.OutboxPost, retwis.OutboxDelete, retwis.OutboxRepair, retwis.OutboxPart:
		return lane{author: e.Author}
	case retwis.OutboxBackfill, retwis.OutboxPurge:
		return lane{timeline: e.Timeline}
	case retwis.OutboxUnlist:
		return lane{list: e.List}
	default:
		return lane{account: e.User}
	}
}

// round carries the entries at the heads of the lanes on by one step each, in turn, and
// reports whether there was anything to do.
func (r *runner) round(ctx context.Context) bool {
	r.sweep()
	now := time.Now()
	var ready []*work
	for i := range r.order {
		head := r.lanes[r.order[(r.turn+i)%len(r.order)]][0]
		if !head.running && !head.notBefore.After(now) {
			ready = append(ready, head)
		}
	}
	r.turn++
	if len(ready) == 0 {
		return false
	}
	var deliver []*work
	for _, w := range ready {
		switch {
		case w.Malformed != nil:
			w.refused = maxTries
			r.failed(ctx, w, errors.Join(retwis.ErrEntryRefused, w.Malformed))
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

// sweep takes what is done off the lanes.
func (r *runner) sweep() {
	kept := r.order[:0]
	for _, l := range r.order {
		queue := r.lanes[l]
		for len(queue) > 0 && queue[0].done {
			queue = queue[1:]
		}
		if len(queue) == 0 {
			delete(r.lanes, l)
			continue
		}
		r.lanes[l] = queue
		kept = append(kept, l)
	}
	r.order = kept
}

// failed notes a failure. What is refused time and again is given up, so that it holds up
// nothing; anything else is tried for as long as it takes.
func (r *runner) failed(ctx context.Context, w *work, err error) {
	if ctx.Err() != nil {
		return
	}
	w.failures++
	r.counts.retries.Add(1)
	pause := min(minPause<<min(w.failures-1, 10), maxPause)
	w.notBefore = time.Now().Add(pause)
	if !errors.Is(err, retwis.ErrEntryRefused) {
		r.log.WarnContext(ctx, "an entry waits", "entry", w.ID, "kind", w.Kind, "for", pause, "err", err)
		return
	}
	if w.refused++; w.refused < maxTries {
		r.log.WarnContext(ctx, "an entry was refused", "entry", w.ID, "kind", w.Kind, "times", w.refused, "err", err)
		return
	}
	if err := r.store.Bury(ctx, w.OutboxEntry, err.Error()); err != nil {
		r.log.ErrorContext(ctx, "keeping a dead letter failed: trying again", "entry", w.ID, "err", err)
		return
	}
	r.counts.buried.Add(1)
	r.log.ErrorContext(ctx, "an entry was given up: see retwis deadletter", "entry", w.ID, "kind", w.Kind, "err", err)
	r.complete(w)
}

func (r *runner) complete(w *work) {
	w.done = true
	w.end()
	r.counts.entries.Add(1)
}
