package fanout_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// backfillOrder records the back-fills in the order in which they begin, and who caused them.
type backfillOrder struct {
	fanout.Tasks
	mu     sync.Mutex
	actors []retwis.UserID
}

func (o *backfillOrder) Backfill(ctx context.Context, timeline retwis.TimelineID, author retwis.UserID, score int64) error {
	o.mu.Lock()
	o.actors = append(o.actors, retwis.ActorOf(ctx))
	o.mu.Unlock()
	return o.Tasks.Backfill(ctx, timeline, author, score)
}

// Attack: somebody who changed all of their lists at once delayed the follows of all others in the partition. Behind 750 such changes, the worker
// did not even read them.
func TestTasks_UsersTakeTurns(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	users := e.Register("owner", "reader")
	authors := e.Crowd("author", 60) // more changes than an outbox has in memory at least
	const lists = 20
	for range lists {
		e.CreateList(users[0], authors...)
	}
	e.Follow(users[1], authors[0])

	order := &backfillOrder{Tasks: e.Tasks}
	_, stop := e.WorkOn(e.Outbox, order, fanout.Options{})
	e.Drain()
	stop()
	if n := len(order.actors); n != lists*len(authors)+1 {
		t.Errorf("%d back-fills, want %d", n, lists*len(authors)+1)
	}
	if place := slices.Index(order.actors, users[1]); place < 0 || place > 100 {
		t.Errorf("the back-fill of the reader began after %d of the owner of lists", place)
	}
}

// deliveryOrder records the authors of entries in the order of their first deliveries.
type deliveryOrder struct {
	fanout.Outbox
	mu      sync.Mutex
	seen    map[string]bool
	authors []retwis.UserID
}

func (o *deliveryOrder) Deliver(ctx context.Context, deliveries []outbox.Delivery) []outbox.Result {
	o.mu.Lock()
	for _, d := range deliveries {
		if !o.seen[d.Entry.ID] {
			o.seen[d.Entry.ID] = true
			o.authors = append(o.authors, d.Entry.Author)
		}
	}
	o.mu.Unlock()
	return o.Outbox.Deliver(ctx, deliveries)
}

// A round has room for few entries. Authors with many posts, and tasks of others, must not keep it from serving somebody's only post.
func TestRounds_AuthorsTakeTurns(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	authors := e.Crowd("author", 20)
	users := e.Register("owner", "visitor")
	for range 20 {
		e.CreateList(users[0], authors[0])
	}
	const posts = 20
	for range posts {
		for _, author := range authors {
			e.Post(author, "one of many")
		}
	}
	e.Post(users[1], "the only one")

	order := &deliveryOrder{Outbox: e.Outbox, seen: map[string]bool{}}
	_, stop := e.WorkOn(order, e.Tasks, fanout.Options{})
	e.Drain()
	stop()
	if n := len(order.authors); n != posts*len(authors)+1 {
		t.Errorf("%d posts were delivered, want %d", n, posts*len(authors)+1)
	}
	if place := slices.Index(order.authors, users[1]); place < 0 || place > posts*len(authors)/3 {
		t.Errorf("the only post of its author was delivered after %d others", place)
	}
}
