package graph

import (
	"context"
	"slices"
	"sync"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

const (
	keptDecisions = 128 // posts without the tracked words that a subscription remembers
	advanceEvery  = 200 // suppressed events in a row after which a subscriber gets its new position
	keptWords     = 128 // posts whose words are cached for all subscribers
)

// filterOf returns the filter of a subscription, or nil if it has none.
func filterOf(ctx context.Context, timeline retwis.TimelineID, filter *retwis.TimelineFilter) (*retwis.Filter, error) {
	switch {
	case filter == nil:
		return nil, nil
	case timeline != retwis.Public():
		return nil, badInput("only the public timeline can be filtered")
	}
	bytes := 0
	for _, entry := range filter.Track {
		bytes += len(entry)
	}
	if err := cost.Walk(ctx, bytes/cost.SegmentedBytesPerRow); err != nil {
		return nil, err
	}
	return retwis.NewFilter(*filter)
}

// filtered returns a source whose events pass a filter, which may be nil. The filter remembers its decisions when the source
// is started again.
func (r *Resolver) filtered(source retwis.EventSource, filter *retwis.Filter) retwis.EventSource {
	if filter == nil {
		return source
	}
	d := &decisions{filter: filter, words: &r.words}
	return func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
		f := &eventFilter{decisions: d, ctx: ctx, meter: cost.Of(ctx)}
		if err := f.meter.KeepFilter(ctx, filter.Size()); err != nil {
			return err //nolint:wrapcheck // for the client
		}
		sink.FilterBy(f.apply)
		return source(ctx, after, sink)
	}
}

// eventFilter suppresses events that do not pass a filter. It is not safe for concurrent use.
type eventFilter struct {
	decisions  *decisions
	ctx        context.Context // of the subscription
	meter      *cost.Meter     // of the replay
	unpaid     int             // rows of work
	passed     int             // events that passed during the replay
	live       bool            // the replay is over
	suppressed int             // events in a row since then
}

// apply returns the event to deliver in place of an event, or nil. The filter of a client with many replays does not delay other clients.
func (f *eventFilter) apply(e retwis.Event) retwis.Event {
	if f.ctx.Err() != nil {
		return nil // the subscription has ended
	}
	if !f.live {
		done, err := f.meter.Compute(f.ctx)
		if err != nil {
			return nil // the subscription has ended
		}
		defer f.pay()
		defer done()
	}
	passes := true
	switch e := e.(type) {
	case *retwis.PostAdded:
		passes = f.decisions.decide(e.Edge.Post, f.wordsOf)
	case *retwis.PostRemoved:
		passes = f.decisions.recall(e.PostID, e.AuthorID)
	case *retwis.PostChanged:
		if !f.decisions.decide(e.Post, f.wordsOf) {
			return nil
		}
		return e
	case *retwis.CaughtUp:
		f.live = true
		return &retwis.CaughtUp{Cursor: e.Cursor, Replayed: f.passed}
	case *retwis.Reset:
		return e
	}
	switch {
	case passes && !f.live:
		f.passed++
		return e
	case passes:
		f.suppressed = 0
		return e
	case !f.live:
		return nil // the end of the replay has the position
	}
	if f.suppressed++; f.suppressed < advanceEvery {
		return nil
	}
	f.suppressed = 0
	return &retwis.Advanced{Cursor: e.EventCursor()}
}

// wordsOf returns the words of a post. Those of a new post are computed once for all subscribers, those of a replay for the
// subscriber, which is charged for them. The first subscriber that needs those of an old post that is sent live pays for them, but does not wait:
// subscribers of other clients have the event after it.
func (f *eventFilter) wordsOf(post *retwis.Post) retwis.Words {
	rows := len(post.Text) / cost.SegmentedBytesPerRow
	if !f.live {
		f.unpaid += rows
		return retwis.WordsOf(post.Text)
	}
	words, late := f.decisions.words.of(post)
	if late {
		f.meter.Note(rows)
	}
	return words
}

// pay charges for work after others may compute: the subscription may have to rest before it goes on. Without budget, the sink ends the replay.
func (f *eventFilter) pay() {
	_ = f.meter.Add(cost.Work{Rows: f.unpaid})
	f.unpaid = 0
}

// decisions remembers the last posts that lack the tracked words, because the removal of a post does not include its text. The filter alone decides
// on the removal of any other post.
type decisions struct {
	filter *retwis.Filter
	words  *postWords

	mu     sync.Mutex
	failed []retwis.PostID
	next   int // index of the oldest, once all are in use
}

func (d *decisions) decide(post *retwis.Post, wordsOf func(*retwis.Post) retwis.Words) bool {
	if d.filter.Passes(post, wordsOf) {
		return true
	}
	if d.filter.MayPass(post.ID, post.AuthorID) {
		d.remember(post.ID)
	}
	return false
}

// remember adds a post to those that failed. It may be among them already: counts of a post change often.
func (d *decisions) remember(failed retwis.PostID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case slices.Contains(d.failed, failed):
	case len(d.failed) < keptDecisions:
		d.failed = append(d.failed, failed)
	default:
		d.failed[d.next] = failed
		d.next = (d.next + 1) % keptDecisions
	}
}

// recall reports whether a post passed, or may have passed.
func (d *decisions) recall(post retwis.PostID, author retwis.UserID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !slices.Contains(d.failed, post) && d.filter.MayPass(post, author)
}

// postWords caches the words of posts for the filters of all subscribers: those of the last new posts, and those of older ones that were changed, or
// waited for the end of a replay or for a slow reader. So old posts do not make it forget new ones.
type postWords struct {
	mu       sync.Mutex
	new, old keptPosts
}

// of returns the words of a post. It reports late if it had to compute those of an old post: the cache has dropped them, or those of a newer one.
func (w *postWords) of(post *retwis.Post) (words retwis.Words, late bool) {
	words, known, late := w.find(post.ID)
	if known {
		return words, false
	}
	words = retwis.WordsOf(post.Text) // without the lock: a long text takes 0.4 ms
	w.add(post.ID, words)
	return words, late
}

func (w *postWords) find(post retwis.PostID) (words retwis.Words, known, late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if words, known = w.new.words[post]; !known {
		words, known = w.old.words[post]
	}
	return words, known, post <= w.new.dropped
}

func (w *postWords) add(post retwis.PostID, words retwis.Words) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if post > w.new.dropped {
		w.new.add(post, words)
	} else {
		w.old.add(post, words)
	}
}

// keptPosts are the words of the last [keptWords] posts that were added.
type keptPosts struct {
	words   map[retwis.PostID]retwis.Words
	queue   []retwis.PostID // oldest first
	dropped retwis.PostID   // the newest post whose words were dropped
}

func (k *keptPosts) add(post retwis.PostID, words retwis.Words) {
	if _, ok := k.words[post]; ok {
		return
	}
	if k.words == nil {
		k.words = map[retwis.PostID]retwis.Words{}
	}
	k.words[post] = words
	if k.queue = append(k.queue, post); len(k.queue) > keptWords {
		delete(k.words, k.queue[0])
		k.dropped = max(k.dropped, k.queue[0])
		k.queue = k.queue[1:]
	}
}
