package store_test

import (
	"context"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// A change of the sources can leave every stored entry as it is: all posts of the author are below the list. The
// pages below the list change nevertheless.
func TestEpoch_RisesWithEveryChangeOfSources(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 5, Slack: 1})
		e.Work(fanout.Options{})
		people := e.Crowd("user", 4)
		reader, old, busy, silent := people[0], people[1], people[2], people[3]
		for range 3 {
			e.Post(old, "below every list")
		}
		list := e.CreateList(reader, busy)
		e.Follow(reader, busy)
		e.Drain()
		for range 10 {
			e.Post(busy, "x")
		}
		e.Drain()
		change := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		ctx := t.Context()
		tests := []struct {
			name     string
			timeline retwis.TimelineID
			change   func()
			want     bool
		}{
			{"follow", retwis.Home(reader), func() { e.Follow(reader, old) }, true},
			{"repeated follow", retwis.Home(reader), func() { e.Follow(reader, old) }, false},
			{"unfollow", retwis.Home(reader), func() { e.Unfollow(reader, old) }, true},
			{"follow of an author without posts", retwis.Home(reader), func() { e.Follow(reader, silent) }, false},
			{"new member", retwis.ListPosts(list), func() { change(e.Lists.AddListMember(ctx, reader, list, old)) }, true},
			{"removed member", retwis.ListPosts(list), func() { change(e.Lists.RemoveListMember(ctx, reader, list, old)) }, true},
			{"rebuild", retwis.Home(reader), func() { change(e.Timelines.Recreate(ctx, retwis.Home(reader))) }, true},
			{"new post", retwis.Home(reader), func() { e.Post(busy, "new") }, false},
		}
		for _, tt := range tests {
			before, _, err := e.Live.CurrentPosition(ctx, tt.timeline)
			change(err)
			announced := listenForChanges(t, e, tt.timeline)
			tt.change()
			e.Drain()
			after, _, err := e.Live.CurrentPosition(ctx, tt.timeline)
			change(err)
			if rose := after.Epoch > before.Epoch; rose != tt.want {
				t.Errorf("%s: the epoch was %d and is %d, want a rise: %t", tt.name, before.Epoch, after.Epoch, tt.want)
			}
			if got := announced(); got != tt.want {
				t.Errorf("%s: announced: %t, want %t", tt.name, got, tt.want)
			}
		}
	})
}

// listenForChanges watches a timeline as an API process does. The returned function ends that, and reports whether a
// change was announced.
func listenForChanges(t *testing.T, e *engine, id retwis.TimelineID) (announced func() bool) {
	t.Helper()
	const node = "node"
	ctx, cancel := context.WithCancel(t.Context())
	messages, done := make(chan pubsub.Message, 100), make(chan struct{})
	go func() {
		defer close(done)
		_ = e.Live.Listen(ctx, node, e.Live.PartitionOf(id), func(m pubsub.Message) { messages <- m })
	}()
	if m := <-messages; m.Kind != pubsub.Joined {
		t.Fatalf("the first message is %+v", m)
	}
	if _, err := e.Live.SetOnline(ctx, node, []retwis.TimelineID{id}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		if err := e.Live.SetOffline(ctx, node, []retwis.TimelineID{id}); err != nil {
			t.Fatal(err)
		}
		// A message that the node sends to itself arrives after all others.
		if err := e.Live.Probe(ctx, node, e.Live.PartitionOf(id)); err != nil {
			t.Fatal(err)
		}
		changed := false
		for m := range messages {
			if m.Kind == pubsub.Probe {
				break
			}
			changed = changed || m.Kind == pubsub.Changed
		}
		cancel()
		<-done
		return changed
	}
}
