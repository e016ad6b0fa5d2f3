package live

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// world is a [Source] in memory: timelines as lists in order of arrival, with their
// generations, removals, presence, and channels that lose what they are told to lose. It
// remembers everything that was pushed, so that a client's view can be checked.
type world struct {
	partitions int
	capacity   int // entries a list keeps
	longest    int // entries that one Since returns

	mu       sync.Mutex
	rng      *rand.Rand
	latency  time.Duration // the longest of a call; a message takes no longer
	failing  map[string]bool
	calls    map[string]int
	lastPost retwis.PostID
	lists    map[retwis.TimelineID]*list
	posts    map[retwis.PostID]*retwis.Post // without those deleted
	removals map[int][]removal              // by partition, oldest first
	online   map[retwis.TimelineID]time.Time
	lines    map[int]*line
	listens  map[int]int   // open Listen calls
	lossy    map[int]int   // messages to lose, by partition
	deaf     map[int]bool  // connections that deliver nothing
	held     chan struct{} // keeps answers back until it is closed
	holding  string        // which: about timelines, or posts
	whenRead func()        // happens after each such answer was made
}

type list struct {
	entries  []retwis.PostID // oldest first
	trimmed  bool
	sorted   bool // a profile: by id, without deleted posts
	gen      int64
	pushed   []retwis.PostID // everything that was ever pushed, in order
	genStart map[int64]int   // how much had been pushed when a generation began
}

type removal struct {
	pubsub.Removal
	timelines []retwis.TimelineID
}

var errOutage = errors.New("no connection")

func newWorld() *world {
	return &world{
		partitions: 2, capacity: 1000, longest: 1000,
		rng:      rand.New(rand.NewPCG(1, 2)),
		failing:  map[string]bool{},
		calls:    map[string]int{},
		lists:    map[retwis.TimelineID]*list{},
		posts:    map[retwis.PostID]*retwis.Post{},
		removals: map[int][]removal{},
		online:   map[retwis.TimelineID]time.Time{},
		lines:    map[int]*line{},
		listens:  map[int]int{},
		lossy:    map[int]int{},
		deaf:     map[int]bool{},
	}
}

func (w *world) list(t retwis.TimelineID) *list {
	l := w.lists[t]
	if l == nil {
		l = &list{genStart: map[int64]int{0: 0}, sorted: t.Kind == retwis.ProfileTimeline}
		w.lists[t] = l
	}
	return l
}

func (l *list) head() retwis.PostID {
	if len(l.entries) == 0 {
		return 0
	}
	return l.entries[len(l.entries)-1]
}

// after returns how much had been pushed at a position: what comes next is pushed[n].
func (l *list) after(at retwis.TimelinePosition) int {
	n := l.genStart[at.Generation]
	if l.sorted {
		for n < len(l.pushed) && l.pushed[n] <= at.Post {
			n++
		}
		return n
	}
	return max(n, lastIndex(l.pushed, at.Post)+1)
}

func (w *world) position(t retwis.TimelineID) retwis.TimelinePosition {
	l := w.list(t)
	at := retwis.TimelinePosition{Timeline: t, Generation: l.gen, Post: l.head()}
	if stream := w.removals[w.PartitionOf(t)]; len(stream) > 0 {
		at.Removal = stream[len(stream)-1].ID
	}
	return at
}

// cursor is the live cursor of a page read now.
func (w *world) cursor(t retwis.TimelineID) retwis.Cursor {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.position(t).Cursor()
}

// push makes a post and puts it on the timelines.
func (w *world) push(timelines ...retwis.TimelineID) retwis.PostID {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastPost++
	id := w.lastPost
	w.posts[id] = &retwis.Post{ID: id, Text: "post " + id.String()}
	w.deliver(id, timelines...)
	return id
}

func (w *world) deliver(id retwis.PostID, timelines ...retwis.TimelineID) {
	to := map[int][]pubsub.Recipient{}
	for _, t := range timelines {
		l := w.list(t)
		to[w.PartitionOf(t)] = append(to[w.PartitionOf(t)], pubsub.Recipient{Timeline: t, Before: l.head()})
		l.entries = append(l.entries, id)
		l.pushed = append(l.pushed, id)
		if extra := len(l.entries) - w.capacity; extra > 0 {
			l.entries, l.trimmed = slices.Clone(l.entries[extra:]), true
		}
	}
	for partition, recipients := range to {
		w.publish(partition, pubsub.Message{Kind: pubsub.Pushed, Post: id, Recipients: recipients})
	}
}

// remove deletes a post that the timelines hold.
func (w *world) remove(id retwis.PostID, timelines ...retwis.TimelineID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.posts, id)
	to := map[int][]retwis.TimelineID{}
	for _, t := range timelines {
		if l := w.list(t); l.sorted {
			l.entries = slices.DeleteFunc(l.entries, func(e retwis.PostID) bool { return e == id })
		}
		to[w.PartitionOf(t)] = append(to[w.PartitionOf(t)], t)
	}
	for partition, concerned := range to {
		n := int64(len(w.removals[partition]) + 1)
		w.removals[partition] = append(w.removals[partition],
			removal{pubsub.Removal{ID: retwis.RemovalID{Millis: 1000 + n/3, Seq: n % 3}, Post: id}, concerned})
		m := pubsub.Message{Kind: pubsub.Removed, Post: id}
		for _, t := range concerned {
			m.Recipients = append(m.Recipients, pubsub.Recipient{Timeline: t})
		}
		w.publish(partition, m)
	}
}

// change rewrites a list, as a purge or a back-fill does.
func (w *world) change(t retwis.TimelineID, rewrite func([]retwis.PostID) []retwis.PostID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed(t, rewrite)
}

func (w *world) changed(t retwis.TimelineID, rewrite func([]retwis.PostID) []retwis.PostID) {
	l := w.list(t)
	l.entries = rewrite(slices.Clone(l.entries))
	l.gen++
	l.genStart[l.gen] = len(l.pushed)
	w.publish(w.PartitionOf(t), pubsub.Message{
		Kind: pubsub.Changed, Recipients: []pubsub.Recipient{{Timeline: t}},
	})
}

// call is the way to the database and back: it takes its time, and may fail.
func (w *world) call(ctx context.Context, name string) error {
	w.mu.Lock()
	w.calls[name]++
	failing := w.failing[name]
	latency := w.delay()
	w.mu.Unlock()
	if err := sleep.For(ctx, latency); err != nil {
		return err
	}
	if failing {
		return errOutage
	}
	return nil
}

func (w *world) delay() time.Duration {
	if w.latency == 0 {
		return 0
	}
	return time.Duration(w.rng.Int64N(int64(w.latency)))
}

// fail makes calls fail, or no longer.
func (w *world) fail(failing bool, names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		w.failing[name] = failing
	}
}

func (w *world) called(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[name]
}

func (w *world) PartitionOf(t retwis.TimelineID) int { return t.Owner.Bucket() % w.partitions }

func (w *world) Now(ctx context.Context, t retwis.TimelineID) (retwis.TimelinePosition, error) {
	if err := w.call(ctx, "Now"); err != nil {
		return retwis.TimelinePosition{}, err
	}
	w.mu.Lock()
	at := w.position(t)
	w.answer(ctx, "timelines")
	return at, ctx.Err()
}

func (w *world) Since(ctx context.Context, from retwis.TimelinePosition) (pubsub.Replay, error) {
	if err := w.call(ctx, "Since"); err != nil {
		return pubsub.Replay{}, err
	}
	w.mu.Lock()
	replay := w.since(from)
	w.answer(ctx, "timelines")
	return replay, ctx.Err()
}

// answer unlocks, and takes the time that an answer takes.
func (w *world) answer(ctx context.Context, about string) {
	if w.whenRead != nil {
		w.whenRead()
	}
	back, held, holding := w.delay(), w.held, w.holding
	w.mu.Unlock()
	_ = sleep.For(ctx, back)
	if held != nil && holding == about {
		<-held
	}
}

// hold keeps the answers about timelines, or posts, back until the returned function is
// called. Those that are made after pass was called are not kept back.
func (w *world) hold(what string) (release func()) {
	held := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.holding = held, what
	return func() {
		w.pass()
		close(held)
	}
}

func (w *world) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = nil
}

func (w *world) since(from retwis.TimelinePosition) pubsub.Replay {
	l := w.list(from.Timeline)
	replay := pubsub.Replay{Position: w.position(from.Timeline), Found: true}
	at := lastIndex(l.entries, from.Post)
	switch {
	case l.sorted:
		at, _ = slices.BinarySearch(l.entries, from.Post+1)
		at--
	case at < 0 && (from.Post != 0 || l.trimmed):
		replay.Found = false
		return replay
	}
	replay.Arrived = slices.Clone(l.entries[at+1:])
	if len(replay.Arrived) > w.longest {
		replay.Found, replay.Arrived = false, nil
		return replay
	}
	for _, r := range w.removals[w.PartitionOf(from.Timeline)] {
		if removedLater(r.ID, from.Removal) && slices.Contains(r.timelines, from.Timeline) {
			replay.Removed = append(replay.Removed, r.Removal)
		}
	}
	return replay
}

func removedLater(a, b retwis.RemovalID) bool {
	return a.Millis > b.Millis || (a.Millis == b.Millis && a.Seq > b.Seq)
}

func (w *world) Posts(ctx context.Context, ids []retwis.PostID) ([]*retwis.Post, error) {
	if err := w.call(ctx, "Posts"); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.calls["Posts asked for"] += len(ids)
	posts := make([]*retwis.Post, len(ids))
	for i, id := range ids {
		posts[i] = w.posts[id]
	}
	w.answer(ctx, "posts")
	return posts, ctx.Err()
}

func (w *world) Enter(ctx context.Context, node string, timelines []retwis.TimelineID, ttl time.Duration) error {
	if err := w.call(ctx, "Enter"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls["longest Enter"] = max(w.calls["longest Enter"], len(timelines))
	for _, t := range timelines {
		w.online[t] = time.Now().Add(ttl)
	}
	return nil
}

func (w *world) Leave(ctx context.Context, node string, timelines []retwis.TimelineID) error {
	if err := w.call(ctx, "Leave"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range timelines {
		delete(w.online, t)
	}
	return nil
}

// present returns the timelines that are told of, sorted.
func (w *world) present() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for t := range maps.Keys(w.online) {
		if time.Now().Before(w.online[t]) {
			names = append(names, t.String()+"@"+strconv.Itoa(w.PartitionOf(t)))
		}
	}
	slices.Sort(names)
	return names
}
