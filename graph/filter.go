package graph

import (
	"context"
	"slices"
	"sync"

	"retwis/internal/retwis"
)

const (
	decisionsKept = 1024 // decisions on posts that a subscription remembers: what a timeline keeps
	advanceEvery  = 200  // events held back after which a subscriber is told where it stands
	wordsKept     = 128  // posts whose words are shared between subscribers
)

// filterOf returns the filter of a subscription, nil where it has none.
func filterOf(timeline retwis.TimelineID, filter *retwis.TimelineFilter) (*retwis.Filter, error) {
	switch {
	case filter == nil:
		return nil, nil
	case timeline != retwis.Public():
		return nil, badInput("only the public timeline can be filtered")
	default:
		return retwis.NewFilter(*filter)
	}
}

// filtered puts a filter, if there is one, before every sink of a source. The filter
// remembers its decisions when the source is started again.
func (r *Resolver) filtered(source retwis.EventSource, filter *retwis.Filter) retwis.EventSource {
	if filter == nil {
		return source
	}
	known := &decisions{filter: filter, words: &r.words}
	return func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
		return source(ctx, after, &filteredSink{sieve{decisions: known}, sink})
	}
}

// filteredSink is a sink behind a filter.
type filteredSink struct {
	sieve
	sink retwis.Sink
}

// Take implements [retwis.Sink].
func (s *filteredSink) Take(e retwis.Event) bool {
	if e = s.sift(e); e == nil {
		return true
	}
	return s.sink.Take(e)
}

// Replay implements [retwis.Sink].
func (s *filteredSink) Replay(ctx context.Context, e retwis.Event) {
	if e = s.sift(e); e != nil {
		s.sink.Replay(ctx, e)
	}
}

// End implements [retwis.Sink].
func (s *filteredSink) End(reason error) { s.sink.End(reason) }

// sieve holds back events that do not pass. It is used for one event at a time.
type sieve struct {
	decisions *decisions
	passed    int  // events that passed before the replay was over
	live      bool // the replay is over
	held      int  // events held back in a row since then
}

// sift returns what to tell in the place of an event; nil for nothing.
func (s *sieve) sift(e retwis.Event) retwis.Event {
	passes := true
	switch e := e.(type) {
	case *retwis.PostAdded:
		passes = s.decisions.decide(e.Edge.Post)
	case *retwis.PostRemoved:
		passes = s.decisions.recall(e.PostID, e.AuthorID)
	case *retwis.CaughtUp:
		s.live = true
		return &retwis.CaughtUp{Cursor: e.Cursor, Replayed: s.passed}
	case *retwis.Reset:
		return e
	}
	switch {
	case passes && !s.live:
		s.passed++
		return e
	case passes:
		s.held = 0
		return e
	case !s.live:
		return nil // the end of the replay will tell the place
	}
	if s.held++; s.held < advanceEvery {
		return nil
	}
	s.held = 0
	return &retwis.Advanced{Cursor: e.EventCursor()}
}

// decisions are those of a filter, the last of which it remembers: of a deleted post there
// is nothing left to decide by.
type decisions struct {
	filter *retwis.Filter
	words  *postWords

	mu   sync.Mutex
	last []retwis.PostID // posts decided on, negative where they did not pass
	next int             // the place of the oldest, when there are as many as are kept
}

func (d *decisions) decide(post *retwis.Post) bool {
	passes := d.filter.Passes(post, d.words.of)
	decided := post.ID
	if !passes {
		decided = -decided
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.last) < decisionsKept {
		d.last = append(d.last, decided)
	} else {
		d.last[d.next] = decided
		d.next = (d.next + 1) % decisionsKept
	}
	return passes
}

// recall reports whether a post passed, or may have.
func (d *decisions) recall(post retwis.PostID, author retwis.UserID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case slices.Contains(d.last, post):
		return true
	case slices.Contains(d.last, -post):
		return false
	default:
		return d.filter.MayPass(post, author)
	}
}

// postWords are the words of the last posts, found once for all who filter by them.
type postWords struct {
	mu    sync.Mutex
	known map[retwis.PostID]retwis.Words
	queue []retwis.PostID // oldest first
}

func (w *postWords) of(post *retwis.Post) retwis.Words {
	w.mu.Lock()
	defer w.mu.Unlock()
	if words, ok := w.known[post.ID]; ok {
		return words
	}
	if w.known == nil {
		w.known = map[retwis.PostID]retwis.Words{}
	}
	words := retwis.WordsOf(post.Text)
	w.known[post.ID] = words
	if w.queue = append(w.queue, post.ID); len(w.queue) > wordsKept {
		delete(w.known, w.queue[0])
		w.queue = w.queue[1:]
	}
	return words
}
