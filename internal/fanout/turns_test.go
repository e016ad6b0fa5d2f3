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
	o.actors = append(o.actors, outbox.ActorOf(ctx))
	o.mu.Unlock()
	return o.Tasks.Backfill(ctx, timeline, author, score)
}

// Attack: somebody who changed all of their lists at once delayed the follows of all others in the partition.
func TestTasks_UsersTakeTurns(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	users := e.Register("owner", "reader")
	authors := e.Crowd("author", 6)
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
	if place := slices.Index(order.actors, users[1]); place < 0 || place > 16 {
		t.Errorf("the back-fill of the reader began after %d of the owner of lists", place)
	}
}
