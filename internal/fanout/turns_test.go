package fanout_test

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"retwis/internal/cost"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/ratelimit"
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
	o.actors = append(o.actors, retwis.ActorOf(ctx).User)
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

// from returns the context of an operation of a user from an address.
func from(t *testing.T, address string, user retwis.UserID) context.Context {
	t.Helper()
	client := ratelimit.Client{User: user, Address: netip.MustParseAddr(address)}
	return cost.With(t.Context(), cost.NewMeter(cost.Options{Client: client}))
}

// Attack: hundreds of users of one network, who had one or two changes each, delayed the follows and posts of all others.
func TestTurns_NetworksTakeTurns(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	crowd, users := e.Crowd("crowd", 60), e.Register("author", "reader")
	act := func(address string, user, author retwis.UserID) {
		ctx := from(t, address, user)
		if err := e.Follows.Follow(ctx, user, author); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: user, Text: "text", IdempotencyKey: e.Key()}); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range crowd {
		act("192.0.2.1", user, users[0])
	}
	act("198.51.100.1", users[1], crowd[0])

	backfills, posts := &backfillOrder{Tasks: e.Tasks}, &deliveryOrder{Outbox: e.Outbox, seen: map[string]bool{}}
	_, stop := e.WorkOn(posts, backfills, fanout.Options{})
	e.Drain()
	stop()
	const most = 20 // two rounds, or the tasks of an outbox
	if place := slices.Index(backfills.actors, users[1]); place < 0 || place > most {
		t.Errorf("the follow was served after %d of another network", place)
	}
	if place := slices.Index(posts.authors, users[1]); place < 0 || place > most {
		t.Errorf("the post was delivered after %d of another network", place)
	}
}

// An account is deleted in steps that queue each other, and all of them are for the network from which that was asked for.
func TestTurns_StepsKeepTheirOrigin(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	leaver := e.Register("leaver")[0]
	for range 60 { // more than one step deletes
		e.Post(leaver, "text")
	}
	_, stop := e.WorkOn(e.Outbox, e.Tasks, fanout.Options{})
	e.Drain()
	stop()
	if err := e.Accounts.DeleteAccount(from(t, "192.0.2.1", leaver), leaver, "x"); err != nil {
		t.Fatal(err)
	}
	seen := &originsSeen{Outbox: e.Outbox, kinds: map[outbox.Kind]map[string]bool{}}
	_, stop = e.WorkOn(seen, e.Tasks, fanout.Options{})
	e.Drain()
	stop()
	for _, kind := range []outbox.Kind{outbox.KindDeleteAccount, outbox.KindDelete, outbox.KindDetach} {
		if origins := slices.Collect(maps.Keys(seen.kinds[kind])); len(origins) != 1 || origins[0] == "" {
			t.Errorf("entries of the kind %s have the origins %q, want one", kind, origins)
		}
	}
}

// originsSeen records the origins of the entries that are read.
type originsSeen struct {
	fanout.Outbox
	mu    sync.Mutex
	kinds map[outbox.Kind]map[string]bool
}

func (o *originsSeen) ReadOutbox(ctx context.Context, outboxID int, after string, count int, block time.Duration) ([]outbox.Entry, error) {
	entries, err := o.Outbox.ReadOutbox(ctx, outboxID, after, count, block)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range entries {
		if o.kinds[e.Kind] == nil {
			o.kinds[e.Kind] = map[string]bool{}
		}
		o.kinds[e.Kind][e.Origin] = true
	}
	return entries, err
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
