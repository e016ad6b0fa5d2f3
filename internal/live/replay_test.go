package live

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

func TestReplay_ResumesFromEachOfItsCursors(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		db.push(alice)
		from := db.cursor(alice)
		for range 3 {
			db.push(alice)
		}
		db.remove(1, alice)
		db.remove(3, alice)

		s := subscribe(t, h, alice, from)
		want := map[string][]string{
			"+2":          {"+4", "-1", "-3", "caught up 3"},
			"+4":          {"-1", "-3", "caught up 2"},
			"-1":          {"-3", "caught up 1"},
			"-3":          {"caught up 0"},
			"caught up 4": {"caught up 0"},
		}
		synctest.Wait()
		for range len(want) {
			e := <-s.Events
			subscribe(t, h, alice, e.EventCursor()).want(want[describe(e)]...)
		}
	})
}

func TestReplay_LoadsPostsInBatches(t *testing.T) {
	inBubble(t, Options{QueueLength: 4}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		var want []string
		for range 3 * postBatch {
			want = append(want, "+"+db.push(alice).String())
		}
		r := subscribe(t, h, alice, from)
		r.want(append(want, "caught up 300")...)
		if n := db.callCount("Shown"); n != 3 {
			t.Errorf("%d calls loaded posts, want 3", n)
		}
	})
}

// Attack: 400 subscriptions that resumed behind 100 posts of 4 KB, and that their reader read slowly, held 200 MB. Nothing counted these posts.
func TestReplay_HoldsNoPostsForASlowReader(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		var want []string
		const posts, some = 2 * postBatch, 10
		for range posts {
			want = append(want, "+"+db.push(alice).String())
		}
		sink := &narrowSink{left: some}
		if err := h.Attach(t.Context(), retwis.Subscriber{}, alice, from, sink); err != nil {
			t.Fatal(err)
		}
		asked := func() int {
			synctest.Wait()
			db.mu.Lock()
			defer db.mu.Unlock()
			return db.calls["Posts asked for"]
		}
		before := asked()
		for sent := some; sent < posts; sent += some {
			if got := len(sink.received()); got != sent {
				t.Fatalf("%d events were sent, but there was room for %d", got, sent)
			}
			sink.makeRoom(some)
			now := asked()
			if read := now - before; read < some || read > some+2*slowBatch {
				t.Errorf("%d posts were read for %d events", read, some)
			}
			before = now
		}
		sink.makeRoom(some)
		synctest.Wait()
		if got := sink.received(); !slices.Equal(got, append(want, "caught up 200")) {
			t.Errorf("received %v", got)
		}
	})
}

// narrowSink is a sink that has room for a few events.
type narrowSink struct {
	mu     sync.Mutex
	left   int
	room   chan struct{}
	events []string
	ended  []error
}

func (s *narrowSink) makeRoom(events int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = events
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
}

func (s *narrowSink) received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

func (s *narrowSink) Room() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left > 0 {
		return nil
	}
	if s.room == nil {
		s.room = make(chan struct{})
	}
	return s.room
}

func (s *narrowSink) Replay(_ context.Context, e retwis.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left--
	s.events = append(s.events, describe(e))
}

func (s *narrowSink) End(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, reason)
}

func (s *narrowSink) endings() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ended)
}

func (s *narrowSink) FilterBy(func(retwis.Event) retwis.Event) {}
func (s *narrowSink) Take(retwis.Event) bool                   { return true }

// Attack: 20 000 subscriptions of a network resumed and were not read. Each kept up to 1024 live events for the end of its replay, 5 GB together.
func TestReplay_LiveEventsThatWaitForItAreCounted(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		db.push(alice)
		const room = 100 // events that the first client may have waiting
		greedy, other, used := clientOf(7, 1), clientOf(8, 2), h.options.Shares.Replays.Used
		leaveRoom(t, h, greedy, room*cost.EventBytes)
		before := used()

		slow, patient, leaving := &narrowSink{}, &narrowSink{}, &narrowSink{}
		attachAs(t, h, greedy, from, slow)
		attachAs(t, h, other, from, patient)
		leave := attachAs(t, h, other, from, leaving)
		want := []string{"+1", "caught up 1"}
		for n := range retwis.PostID(2 * room) {
			if got := slow.endings(); got != nil && n <= room {
				t.Fatalf("ended with %v behind %d events", got, n)
			}
			want = append(want, "+"+db.push(alice).String())
			synctest.Wait()
		}
		if got := slow.endings(); len(got) != 1 || !errors.Is(got[0], retwis.ErrSlowConsumer) {
			t.Errorf("a subscription of a client with too many events ended with %v, want %v", got, retwis.ErrSlowConsumer)
		}
		if now := used() - before; now < 2*room*2*cost.EventBytes*9/10 || now > 2*room*2*cost.EventBytes {
			t.Errorf("%d bytes are counted for the events of two subscriptions", now)
		}
		leave()
		patient.makeRoom(3 * room)
		synctest.Wait()
		if got := patient.received(); !slices.Equal(got, want) || patient.endings() != nil {
			t.Errorf("a subscription of another client received %v, and ended with %v", got, patient.endings())
		}
		if got := leaving.endings(); !slices.Equal(got, []error{nil}) {
			t.Errorf("a subscription ended with %v", got)
		}
		if now := used() - before; now != 0 {
			t.Errorf("%d bytes are counted in the end", now)
		}
	})
}

// Attack: 20 000 subscriptions of a network resumed behind 1000 entries each and were not read. Their entries took 1.4 GB.
func TestReplay_EntriesAreCounted(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		const entries = 500
		for range entries - 1 {
			db.push(alice)
		}
		db.remove(1, alice)
		greedy, other, used := clientOf(7, 1), clientOf(8, 2), h.options.Shares.Replays.Used
		leaveRoom(t, h, greedy, 2*entries*entryBytes)
		before := used()

		var sinks [3]narrowSink
		for i := range sinks {
			attachAs(t, h, greedy, from, &sinks[i])
		}
		patient := &narrowSink{}
		attachAs(t, h, other, from, patient)
		synctest.Wait()
		if got := sinks[2].endings(); len(got) != 1 || !errors.Is(got[0], errTooManyReplays()) {
			t.Errorf("a subscription of a client with too many entries ended with %v, want %v", got, errTooManyReplays())
		}
		if now := used() - before; now != 3*entries*entryBytes {
			t.Errorf("%d bytes are counted for the entries of three replays", now)
		}
		for _, sink := range []*narrowSink{&sinks[0], &sinks[1], patient} {
			sink.makeRoom(2 * entries)
			synctest.Wait()
			if got := sink.received(); len(got) != entries || got[entries-1] != "caught up 499" || sink.endings() != nil {
				t.Errorf("a subscription received %v, and ended with %v", got, sink.endings())
			}
		}
		if now := used() - before; now != 0 {
			t.Errorf("%d bytes are counted in the end", now)
		}
	})
}

// Attack: 20 000 replays of a network loaded 100 posts of 4 KB each, 8.8 GB together, and kept them while they took turns to render one.
func TestReplay_PostsThatWaitToBeSentAreBounded(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		for range postBatch {
			db.push(alice)
		}
		asked := func() int {
			synctest.Wait()
			db.mu.Lock()
			defer db.mu.Unlock()
			return db.calls["Posts asked for"]
		}
		greedy, other := clientOf(7, 1), clientOf(8, 2)
		const replays, kept = 100, 4000 // more posts than a client may keep
		turn := make(chan struct{})
		var sinks [replays]waitingSink
		before := asked()
		for i := range sinks {
			sinks[i].turn = turn
			leave := attachAs(t, h, greedy, from, &sinks[i])
			if i == 0 {
				synctest.Wait()
				leave()
			}
		}
		if now := asked() - before; now > kept+4*replays+postBatch {
			t.Errorf("%d replays of a client keep %d posts", replays, now)
		}
		before = asked()
		patient := &waitingSink{turn: turn}
		attachAs(t, h, other, from, patient)
		if now := asked() - before; now != postBatch {
			t.Errorf("a replay of another network keeps %d posts, want %d", now, postBatch)
		}
		close(turn)
		synctest.Wait()
		for i := range sinks {
			if got := len(sinks[i].received()); i > 0 && got != postBatch+1 {
				t.Errorf("replay %d sent %d events", i, got)
			}
		}
		if used := h.options.Shares.Posts.Used(); used != 0 {
			t.Errorf("%d posts are counted in the end", used)
		}
	})
}

// waitingSink is a sink whose events wait for their turn.
type waitingSink struct {
	narrowSink

	turn chan struct{}
}

func (s *waitingSink) Room() <-chan struct{} { return nil }

func (s *waitingSink) Replay(ctx context.Context, e retwis.Event) {
	select {
	case <-s.turn:
		s.narrowSink.Replay(ctx, e)
	case <-ctx.Done():
	}
}

// attachAs subscribes a client to the timeline of alice. It returns a function that ends the subscription.
func attachAs(t *testing.T, h *Hub, client ratelimit.Client, from retwis.Cursor, sink retwis.Sink) context.CancelFunc {
	t.Helper()
	ctx, cancel := context.WithCancel(cost.With(t.Context(), cost.NewMeter(cost.Options{Client: client})))
	t.Cleanup(cancel)
	if err := h.Attach(ctx, retwis.Subscriber{}, alice, from, sink); err != nil {
		t.Fatal(err)
	}
	return cancel
}

// leaveRoom counts as many events of a client that it may have only some more bytes of them.
func leaveRoom(t *testing.T, h *Hub, client ratelimit.Client, bytes int) {
	t.Helper()
	var used cost.EventAccount
	if !used.Grow(h.options.Shares.Replays, client, 16<<20-bytes) {
		t.Fatal("the share of a client is smaller than 16 MB")
	}
}

// clientOf returns a user as a client of a network.
func clientOf(user retwis.UserID, network byte) ratelimit.Client {
	return ratelimit.Client{User: user, Address: netip.AddrFrom4([4]byte{192, 0, network, 1})}
}

func TestReplay_EndsOneSubscriptionAfterAPanic(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		other := subscribe(t, h, alice, "")
		first, second := db.push(alice), db.push(alice)
		other.want("caught up 0", "+"+first.String(), "+"+second.String())
		sink := &panickingSink{ended: make(chan error, 1)}
		if err := h.Attach(t.Context(), retwis.Subscriber{}, alice, from, sink); err != nil {
			t.Fatal(err)
		}
		if err := <-sink.ended; err == nil || !strings.Contains(err.Error(), "a replay panicked: oops") {
			t.Errorf("the subscription ended with %v", err)
		}
		other.want("+" + db.push(alice).String())
		if used := h.options.Shares.Posts.Used(); used != 0 {
			t.Errorf("%d posts are counted in the end", used)
		}
	})
}

// panickingSink is a sink with a defect.
type panickingSink struct {
	narrowSink

	ended chan error
}

func (s *panickingSink) Room() <-chan struct{}                { return nil }
func (s *panickingSink) Replay(context.Context, retwis.Event) { panic("oops") }
func (s *panickingSink) End(reason error)                     { s.ended <- reason }

func TestReplay_WaitsForASlowSubscriber(t *testing.T) {
	inBubble(t, Options{QueueLength: 20}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		var want []string
		for range 200 {
			want = append(want, "+"+db.push(alice).String())
		}
		want = append(want, "caught up 200")
		patient, unlucky := subscribe(t, h, alice, from), subscribe(t, h, alice, from)
		time.Sleep(time.Minute)
		for range 20 {
			want = append(want, "+"+db.push(alice).String())
		}
		synctest.Wait()
		patient.want(want...)

		db.push(alice)
		patient.want("+221")
		if err := unlucky.Err(); !errors.Is(err, retwis.ErrSlowConsumer) {
			t.Errorf("subscription with a full queue behind its replay: %v, want %v", err, retwis.ErrSlowConsumer)
		}
	})
}

func TestReplay_ContinuesAfterAnOutage(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		from := db.cursor(alice)
		db.push(alice)
		db.fail(true, "Shown")
		r := subscribe(t, h, alice, from)
		gone := subscribe(t, h, alice, from)
		time.Sleep(20 * time.Second)
		r.want()
		gone.close()
		gone.want("closed")
		db.fail(false, "Shown")
		time.Sleep(10 * time.Second)
		r.want("+1", "caught up 1")
	})
}
