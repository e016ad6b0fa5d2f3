package live

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

func TestMain(m *testing.M) { redistest.Main(m) }

var (
	alice        = retwis.Home(1024)
	bob          = retwis.Home(1025)
	carol        = retwis.Home(2048) // in the partition of alice
	aliceProfile = retwis.Profile(1024)
)

// inBubble runs a test with a hub and a fake database in a synctest bubble, once with all subscribers among the first ones of their timeline and
// once with all in its tail. It stops the hub at the end; synctest fails the test if a goroutine is left.
func inBubble(t *testing.T, options Options, test func(t *testing.T, db *fakeDatabase, h *Hub)) {
	t.Helper()
	t.Parallel()
	for name, first := range map[string]int{"first": 1000, "tail": -1} {
		options.MaxFirst = first
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := newFakeDatabase()
				h := NewHub(db, slog.New(slog.DiscardHandler), options)
				stop := start(t, h)
				defer stop()
				test(t, db, h)
			})
		})
	}
}

// start runs a hub and returns a function that stops it.
func start(t *testing.T, h *Hub) func() {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- h.Run(ctx) }()
	synctest.Wait()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// reader is a subscriber in a test.
type reader struct {
	Subscription
	t      *testing.T
	close  context.CancelFunc
	cursor retwis.Cursor // of the last event
}

func subscribe(t *testing.T, h *Hub, timeline retwis.TimelineID, after retwis.Cursor) *reader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s, err := h.Subscribe(ctx, timeline, after)
	if err != nil {
		t.Fatalf("Subscribe: %v", err)
	}
	return &reader{Subscription: s, t: t, close: cancel, cursor: after}
}

// received returns all events that are available once all goroutines are blocked.
func (r *reader) received() []string {
	var got []string
	for open := true; open; {
		synctest.Wait()
		select {
		case e, more := <-r.Events:
			if open = more; !more {
				got = append(got, "closed")
				break
			}
			got = append(got, describe(e))
			r.cursor = e.EventCursor()
		default:
			open = false
		}
	}
	return got
}

// want compares all events that are available.
func (r *reader) want(want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.received()); diff != "" {
		r.t.Errorf("events (-want +got):\n%s", diff)
	}
}

// describe returns a short form of an event, such as +7 for an added post.
func describe(e retwis.Event) string {
	switch e := e.(type) {
	case *retwis.PostAdded:
		return "+" + e.Edge.Post.ID.String()
	case *retwis.PostRemoved:
		return "-" + e.PostID.String()
	case *retwis.PostChanged:
		return "#" + e.Post.ID.String()
	case *retwis.MarkerMoved:
		if e.Marker == nil {
			return "unread"
		}
		at, err := e.Marker.TimelinePosition(e.Timeline.ID)
		if err != nil {
			return err.Error()
		}
		return "read " + at.Element.String()
	case *retwis.CaughtUp:
		return fmt.Sprintf("caught up %d", e.Replayed)
	case *retwis.Reset:
		return string(e.Reason)
	case *retwis.Advanced:
		return "advanced"
	default:
		return fmt.Sprintf("%T", e)
	}
}

func position(t *testing.T, timeline retwis.TimelineID, c retwis.Cursor) retwis.TimelinePosition {
	t.Helper()
	at, err := c.TimelinePosition(timeline)
	if err != nil {
		t.Fatalf("cursor %q: %v", c, err)
	}
	return at
}
