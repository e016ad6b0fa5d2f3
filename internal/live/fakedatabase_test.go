package live

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"retwis/internal/cost"
	"retwis/internal/pubsub"
	"retwis/internal/retwis"
)

// fakeDatabase is a [Source] in memory. It holds timelines as lists in order of arrival, with
// their epochs, removals and presence, and it injects faults: failing calls, latency, lost
// messages and broken connections. It remembers every push, so that a test can verify the
// events of a client.
type fakeDatabase struct {
	partitions int
	capacity   int                        // maximum number of entries of a list
	longest    int                        // maximum number of posts that Since returns
	behind     map[retwis.TimelineID]bool // those that Compare calls behind
	pulled     bool                       // all authors are large

	mu          sync.Mutex
	readRows    int // number of rows that Since walks over
	rng         *rand.Rand
	latency     time.Duration // maximum latency of a call and of a message
	failing     map[string]bool
	calls       map[string]int
	filters     map[retwis.UserID]int64 // filter epochs
	lastPost    retwis.PostID
	elementOf   func(retwis.PostID) retwis.Element // the element of a new post or repost
	lists       map[retwis.TimelineID]*list
	posts       map[retwis.PostID]*retwis.Post // undeleted posts
	removals    map[int][]removal              // by partition, oldest first
	online      map[retwis.TimelineID]time.Time
	connections map[int]*connection
	listens     map[int]int   // open Listen calls, by partition
	lossy       map[int]int   // number of messages to lose, by partition
	silent      map[int]bool  // whether the connection delivers nothing, by partition
	held        chan struct{} // delays replies until it is closed
	holding     string        // the delayed replies: "timelines" or "posts"
	afterRead   func()        // called after each reply was computed
}

type list struct {
	entries    []retwis.Element // oldest first
	trimmed    bool
	sorted     bool // a profile: in the order of ids, without deleted posts
	epoch      int64
	pushed     []retwis.Element        // all entries ever pushed, in order
	epochStart map[int64]int           // length of pushed at the start of each epoch
	hidden     map[retwis.Element]bool // entries that the timeline does not show
	marker     retwis.Element
}

type removal struct {
	pubsub.Removal
	timelines []retwis.TimelineID
}

var errOutage = errors.New("no connection")

func newFakeDatabase() *fakeDatabase {
	return &fakeDatabase{
		partitions: 2, capacity: 1000, longest: 1000,
		rng:         rand.New(rand.NewPCG(1, 2)),
		failing:     map[string]bool{},
		calls:       map[string]int{},
		elementOf:   retwis.Plain,
		filters:     map[retwis.UserID]int64{},
		lists:       map[retwis.TimelineID]*list{},
		posts:       map[retwis.PostID]*retwis.Post{},
		removals:    map[int][]removal{},
		online:      map[retwis.TimelineID]time.Time{},
		connections: map[int]*connection{},
		listens:     map[int]int{},
		lossy:       map[int]int{},
		silent:      map[int]bool{},
	}
}

func (db *fakeDatabase) list(t retwis.TimelineID) *list {
	l := db.lists[t]
	if l == nil {
		l = &list{epochStart: map[int64]int{0: 0}, hidden: map[retwis.Element]bool{}, sorted: t.IsProfile()}
		db.lists[t] = l
	}
	return l
}

func (l *list) head() retwis.Element {
	if len(l.entries) == 0 {
		return retwis.Element{}
	}
	return l.entries[len(l.entries)-1]
}

// after returns the number of posts pushed up to a position: pushed[n] is the next one.
func (l *list) after(at retwis.TimelinePosition) int {
	n := l.epochStart[at.Epoch]
	if l.sorted {
		for n < len(l.pushed) && l.pushed[n].ID <= at.Element.ID {
			n++
		}
		return n
	}
	return max(n, lastElement(l.pushed, at.Element.ID)+1)
}

// lastElement returns the index of the last element with a leading id, or -1.
func lastElement(elements []retwis.Element, id retwis.PostID) int {
	for i, e := range slices.Backward(elements) {
		if e.ID == id {
			return i
		}
	}
	return -1
}

func (db *fakeDatabase) position(t retwis.TimelineID) retwis.TimelinePosition {
	l := db.list(t)
	at := retwis.TimelinePosition{Timeline: t, Epoch: l.epoch, Element: l.head()}
	if stream := db.removals[db.PartitionOf(t)]; len(stream) > 0 {
		at.Change = stream[len(stream)-1].ID
	}
	return at
}

// cursor returns the live cursor of a page read now.
func (db *fakeDatabase) cursor(t retwis.TimelineID) retwis.Cursor {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.position(t).Cursor()
}

// push creates a post and pushes it onto timelines.
func (db *fakeDatabase) push(timelines ...retwis.TimelineID) retwis.PostID {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.lastPost++
	e := db.elementOf(db.lastPost)
	id := e.Shown()
	db.posts[id] = &retwis.Post{ID: id, Text: "post " + id.String()}
	db.deliver(e, timelines...)
	return id
}

// hide creates a post and pushes it onto timelines that do not show it.
func (db *fakeDatabase) hide(timelines ...retwis.TimelineID) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.lastPost++
	e := db.elementOf(db.lastPost)
	db.posts[e.Shown()] = &retwis.Post{ID: e.Shown()}
	for _, t := range timelines {
		db.list(t).hidden[e] = true
	}
	db.deliverAs(pubsub.Hidden, e, timelines...)
}

func (db *fakeDatabase) deliver(e retwis.Element, timelines ...retwis.TimelineID) {
	db.deliverAs(pubsub.Pushed, e, timelines...)
}

func (db *fakeDatabase) deliverAs(kind pubsub.Kind, e retwis.Element, timelines ...retwis.TimelineID) {
	to := map[int][]pubsub.Recipient{}
	for _, t := range timelines {
		l := db.list(t)
		to[db.PartitionOf(t)] = append(to[db.PartitionOf(t)], pubsub.Recipient{Timeline: t, Before: l.head().ID})
		l.entries = append(l.entries, e)
		l.pushed = append(l.pushed, e)
		if extra := len(l.entries) - db.capacity; extra > 0 {
			l.entries, l.trimmed = slices.Clone(l.entries[extra:]), true
		}
	}
	for partition, recipients := range to {
		db.publish(partition, pubsub.Message{Kind: kind, Element: e, Pulled: db.pulled, Recipients: recipients})
	}
}

// markRead marks a timeline as read up to its head.
func (db *fakeDatabase) markRead(t retwis.TimelineID) {
	db.mu.Lock()
	defer db.mu.Unlock()
	l := db.list(t)
	if l.head().ID == 0 || l.head() == l.marker {
		return
	}
	l.marker = l.head()
	db.publish(db.PartitionOf(t), pubsub.Message{
		Kind: pubsub.Marked, Element: l.marker, Recipients: []pubsub.Recipient{{Timeline: t}},
	})
}

// remove deletes a post and publishes the removal to the timelines.
func (db *fakeDatabase) remove(id retwis.PostID, timelines ...retwis.TimelineID) {
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.posts, id)
	to := map[int][]retwis.TimelineID{}
	for _, t := range timelines {
		if l := db.list(t); l.sorted {
			l.entries = slices.DeleteFunc(l.entries, func(e retwis.Element) bool { return e.Shown() == id })
		}
		to[db.PartitionOf(t)] = append(to[db.PartitionOf(t)], t)
	}
	for partition, concerned := range to {
		n := int64(len(db.removals[partition]) + 1)
		db.removals[partition] = append(db.removals[partition],
			removal{pubsub.Removal{ID: retwis.ChangeID{Millis: 1000 + n/3, Seq: n % 3}, Post: id}, concerned})
		m := pubsub.Message{Kind: pubsub.Removed, Post: id}
		for _, t := range concerned {
			m.Recipients = append(m.Recipients, pubsub.Recipient{Timeline: t})
		}
		db.publish(partition, m)
	}
}

// change rewrites a list and starts a new epoch, as a purge or a back-fill does.
func (db *fakeDatabase) change(t retwis.TimelineID, rewrite func([]retwis.Element) []retwis.Element) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.changeLocked(t, rewrite)
}

func (db *fakeDatabase) changeLocked(t retwis.TimelineID, rewrite func([]retwis.Element) []retwis.Element) {
	l := db.list(t)
	l.entries = rewrite(slices.Clone(l.entries))
	l.epoch++
	l.epochStart[l.epoch] = len(l.pushed)
	db.publish(db.PartitionOf(t), pubsub.Message{
		Kind: pubsub.Changed, Recipients: []pubsub.Recipient{{Timeline: t}},
	})
}

// rewrite replaces the entries of a list within an epoch, as only a failover does.
func (db *fakeDatabase) rewrite(t retwis.TimelineID, entries ...retwis.PostID) {
	db.mu.Lock()
	defer db.mu.Unlock()
	rewritten := make([]retwis.Element, len(entries))
	for i, id := range entries {
		rewritten[i] = retwis.Plain(id)
	}
	db.list(t).entries = rewritten
}

// failOver replaces the entries of a list by those that another master has, and disconnects
// the subscribers of its channel.
func (db *fakeDatabase) failOver(t retwis.TimelineID, entries ...retwis.PostID) {
	db.disconnect(db.PartitionOf(t), false)
	db.rewrite(t, entries...)
}

func (db *fakeDatabase) PartitionOfPost(post retwis.PostID) int { return post.Bucket() % db.partitions }

func (db *fakeDatabase) PartitionOf(t retwis.TimelineID) int { return t.Owner.Bucket() % db.partitions }

func (db *fakeDatabase) Partitions() int { return db.partitions }

func (db *fakeDatabase) Newest(ctx context.Context, t retwis.TimelineID, count int) ([]retwis.PostID, error) {
	if err := db.call(ctx, "Newest"); err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	var posts []retwis.PostID
	for _, e := range slices.Backward(db.list(t).entries) {
		if len(posts) < count {
			posts = append(posts, e.Shown())
		}
	}
	return posts, ctx.Err()
}

// count publishes that the counts of a post changed.
func (db *fakeDatabase) count(post retwis.PostID) {
	db.mu.Lock()
	defer db.mu.Unlock()
	partition := int(post) % db.partitions
	db.publish(partition, pubsub.Message{
		Kind: pubsub.Counted, Post: post, Recipients: []pubsub.Recipient{{Timeline: retwis.PostCounts(partition)}},
	})
}

func (db *fakeDatabase) CurrentPosition(ctx context.Context, t retwis.TimelineID) (retwis.TimelinePosition, retwis.Element, error) {
	if err := db.call(ctx, "Now"); err != nil {
		return retwis.TimelinePosition{}, retwis.Element{}, err
	}
	db.mu.Lock()
	at, marker := db.position(t), db.list(t).marker
	db.answer(ctx, "timelines")
	return at, marker, ctx.Err()
}

func (db *fakeDatabase) EventsSince(ctx context.Context, from retwis.TimelinePosition) (pubsub.Replay, error) {
	db.mu.Lock()
	rows := db.readRows
	db.mu.Unlock()
	_ = cost.Walk(ctx, rows)
	if err := db.call(ctx, "Since"); err != nil {
		return pubsub.Replay{}, err
	}
	db.mu.Lock()
	replay := db.since(from)
	db.answer(ctx, "timelines")
	return replay, ctx.Err()
}

// Compare compares one timeline at least, and not always all.
func (db *fakeDatabase) Compare(ctx context.Context, watched []pubsub.Watched) (pubsub.Comparison, error) {
	db.mu.Lock()
	rows := db.readRows
	db.mu.Unlock()
	_ = cost.Walk(ctx, rows)
	leave, err := cost.Enter(ctx, 1)
	if err != nil {
		return pubsub.Comparison{}, err
	}
	defer leave()
	if err := db.call(ctx, "Compare"); err != nil {
		return pubsub.Comparison{}, err
	}
	db.mu.Lock()
	var compared pubsub.Comparison
	for _, w := range watched[:1+db.rng.IntN(len(watched))] {
		now := db.since(w.At)
		compared.Change = now.Position.Change
		verdict := pubsub.Different
		if now.Found && now.Position.Epoch == w.At.Epoch && now.Marker == w.Marker && now.Position.Element == w.At.Element &&
			len(now.Arrived)+len(now.Removed) == 0 {
			verdict = pubsub.Same
		}
		if db.behind[w.At.Timeline] {
			verdict = pubsub.Behind
		}
		compared.Verdicts = append(compared.Verdicts, verdict)
	}
	db.answer(ctx, "timelines")
	return compared, ctx.Err()
}

func (db *fakeDatabase) since(from retwis.TimelinePosition) pubsub.Replay {
	l := db.list(from.Timeline)
	replay := pubsub.Replay{
		Position: db.position(from.Timeline), Found: true, Marker: l.marker, FilterEpoch: db.filters[from.Timeline.User()],
	}
	at := lastElement(l.entries, from.Element.ID)
	switch {
	case l.sorted:
		at, _ = slices.BinarySearchFunc(l.entries, from.Element.ID+1, func(e retwis.Element, id retwis.PostID) int { return cmp.Compare(e.ID, id) })
		at--
	case at < 0 && (from.Element.ID != 0 || l.trimmed):
		replay.Found = false
		return replay
	}
	for i, older := range from.Older {
		if below := at - 1 - i; !l.sorted && below >= 0 && older.ID != 0 && l.entries[below] != older {
			replay.Found, replay.Reordered = false, true
			return replay
		}
	}
	for _, e := range l.entries[at+1:] {
		replay.Arrived = append(replay.Arrived, pubsub.Arrival{Element: e, Hidden: l.hidden[e]})
	}
	if len(replay.Arrived) > db.longest {
		replay.Found, replay.Arrived = false, nil
		return replay
	}
	for _, r := range db.removals[db.PartitionOf(from.Timeline)] {
		if removedLater(r.ID, from.Change) && slices.Contains(r.timelines, from.Timeline) {
			replay.Removed = append(replay.Removed, r.Removal)
		}
	}
	return replay
}

func removedLater(a, b retwis.ChangeID) bool {
	return a.Millis > b.Millis || (a.Millis == b.Millis && a.Seq > b.Seq)
}

// raiseFilter raises the filter epoch of a user. With a timeline it publishes a change message.
func (db *fakeDatabase) raiseFilter(user retwis.UserID, watched ...retwis.TimelineID) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.filters[user]++
	for _, t := range watched {
		db.publish(db.PartitionOf(t), pubsub.Message{Kind: pubsub.Changed, Recipients: []pubsub.Recipient{{Timeline: t}}})
	}
}

// FilterEpochs implements [Source].
func (db *fakeDatabase) FilterEpochs(ctx context.Context, users []retwis.UserID) ([]int64, error) {
	if err := db.call(ctx, "FilterEpochs"); err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.calls["Filters asked for"] += len(users)
	epochs := make([]int64, len(users))
	for i, user := range users {
		epochs[i] = db.filters[user]
	}
	return epochs, nil
}

func (db *fakeDatabase) Shown(ctx context.Context, entries []retwis.Element) ([]*retwis.Post, error) {
	if err := db.call(ctx, "Shown"); err != nil {
		return nil, err
	}
	db.mu.Lock()
	db.calls["Posts asked for"] += len(entries)
	posts := make([]*retwis.Post, len(entries))
	for i, e := range entries {
		posts[i] = db.posts[e.Shown()]
	}
	db.answer(ctx, "posts")
	return posts, ctx.Err()
}
