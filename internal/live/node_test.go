package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/live"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// These tests run the hub on a real Redis and a real cluster, with real fan-out.

// node is a database with a worker and hubs.
type node struct {
	*store.Store
	t    *testing.T
	keys int
}

func openNode(t *testing.T, url string, options store.Options) *node {
	t.Helper()
	return openNodeWith(t, url, options, func(of *store.Store) fanout.Outbox { return of.Outbox })
}

// openNodeWith opens a node whose worker uses an outbox.
func openNodeWith(t *testing.T, url string, options store.Options, workOn func(*store.Store) fanout.Outbox) *node {
	t.Helper()
	options.URL = url
	s, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	n := &node{Store: s, t: t}
	n.run(fanout.New(workOn(s), s.Tasks, fanout.Options{Lease: 500 * time.Millisecond}).Run)
	return n
}

func (n *node) run(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = run(ctx) }()
	n.t.Cleanup(func() { cancel(); <-done })
}

func (n *node) hub(options live.Options) *live.Hub {
	if options.Node == "" {
		options.Node = fmt.Sprint("node", rand.Uint64())
	}
	hub := live.NewHub(n.Store.Live, slog.New(slog.DiscardHandler), options)
	n.run(hub.Run)
	await(n.t, func() bool { // until Run has started
		ctx, cancel := context.WithCancel(n.t.Context())
		defer cancel()
		_, err := hub.Subscribe(ctx, retwis.Public(), "")
		return err == nil
	})
	return hub
}

func (n *node) people(count int) []retwis.UserID {
	n.t.Helper()
	ids := make([]retwis.UserID, count)
	for i := range ids {
		user, err := n.Accounts.Register(n.t.Context(), retwis.Registration{Username: fmt.Sprint("user", i), PasswordHash: "x"})
		if err != nil {
			n.t.Fatal(err)
		}
		ids[i] = user.ID
	}
	return ids
}

func (n *node) post(author retwis.UserID) retwis.PostID {
	n.t.Helper()
	n.keys++
	edge, err := n.Posts.CreatePost(n.t.Context(), retwis.NewPost{Author: author, Text: "x #live", IdempotencyKey: fmt.Sprint(n.keys)})
	if err != nil {
		n.t.Fatal(err)
	}
	return edge.Post.ID
}

// tagged returns the timeline of the hashtag of all posts.
func (n *node) tagged() retwis.TimelineID {
	n.t.Helper()
	tags, err := n.Tags.ClaimTags(n.t.Context(), retwis.IndexedTags("#live"))
	if err != nil {
		n.t.Fatal(err)
	}
	return retwis.TagPosts(tags[0])
}

func (n *node) drain() {
	n.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if waiting, err := n.Outbox.OutboxLength(n.t.Context()); err == nil && waiting == 0 {
			return
		}
	}
	n.t.Fatal("the outboxes are not empty after a minute")
}

// list returns the posts of a timeline in order of arrival.
func (n *node) list(id retwis.TimelineID) []retwis.PostID {
	n.t.Helper()
	var all []retwis.PostID
	page := retwis.Page{First: 100}
	for {
		got, err := n.Timelines.Page(n.t.Context(), id, page)
		if err != nil {
			n.t.Fatal(err)
		}
		for _, edge := range got.Edges {
			all = append(all, edge.Post.ID)
			page.After = edge.Cursor
		}
		if !got.HasNextPage {
			slices.Reverse(all)
			return all
		}
	}
}

// reader is a subscriber that resumes with its last cursor after each disconnection.
type reader struct {
	hubs     []*live.Hub
	timeline retwis.TimelineID
	random   *rand.Rand

	mu      sync.Mutex
	cursor  retwis.Cursor
	seen    []retwis.PostID
	removed []retwis.PostID
	resets  int
	cuts    int
}

// follow receives events until ctx is done. It disconnects after the given number of events on
// average.
func (r *reader) follow(ctx context.Context, every int) error {
	for ctx.Err() == nil {
		if err := r.once(ctx, 1+r.random.IntN(2*every)); err != nil && ctx.Err() == nil {
			return err
		}
		r.cuts++
	}
	return nil
}

// once receives up to limit events on one subscription.
func (r *reader) once(ctx context.Context, limit int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sub, err := r.hubs[r.random.IntN(len(r.hubs))].Subscribe(ctx, r.timeline, r.cursor)
	if err != nil {
		return err
	}
	for range limit {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-sub.Events:
			if !open {
				return sub.Err()
			}
			r.take(event)
		}
	}
	return nil
}

func (r *reader) take(event retwis.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cursor = event.EventCursor()
	switch e := event.(type) {
	case *retwis.PostAdded:
		r.seen = append(r.seen, e.Edge.Post.ID)
	case *retwis.PostRemoved:
		r.removed = append(r.removed, e.PostID)
	case *retwis.Reset:
		r.resets++
	}
}

func (r *reader) saw(post retwis.PostID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.seen, post)
}

// watched starts a reader for each timeline, at the live cursor of a page read now.
func (n *node) watched(ctx context.Context, random *rand.Rand, hubs []*live.Hub, every int, timelines ...retwis.TimelineID) (readers []*reader, wait func()) {
	n.t.Helper()
	var wg sync.WaitGroup
	for _, id := range timelines {
		start, err := n.Timelines.Page(ctx, id, retwis.Page{First: 1})
		if err != nil {
			n.t.Fatal(err)
		}
		r := &reader{hubs: hubs, timeline: id, cursor: start.LiveCursor, random: rand.New(rand.NewPCG(random.Uint64(), 2))}
		readers = append(readers, r)
		wg.Go(func() {
			if err := r.follow(ctx, every); err != nil {
				n.t.Error(err)
			}
		})
	}
	return readers, wg.Wait
}

// sawAllOf waits until the readers have received the last post, stops them, and compares the
// received posts with the timelines.
func (n *node) sawAllOf(readers []*reader, last retwis.PostID, end func()) {
	n.t.Helper()
	for _, r := range readers {
		await(n.t, func() bool { return r.saw(last) })
	}
	end()
	for _, r := range readers {
		if want := n.list(r.timeline); !slices.Equal(r.seen, want) || r.resets > 0 {
			n.t.Errorf("%s: received %d posts and %d resets, want %d posts in the order of the list", r.timeline, len(r.seen), r.resets, len(want))
		}
		n.t.Logf("%s: %d posts, %d disconnections", r.timeline, len(r.seen), r.cuts)
	}
}

// await polls until a condition holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
