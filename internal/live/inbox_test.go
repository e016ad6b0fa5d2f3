package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
)

func TestInbox_ReplacesMessagesByJoinedOnOverflow(t *testing.T) {
	t.Parallel()
	b := inbox{ready: make(chan struct{}, 1)}
	big := pubsub.Message{Kind: pubsub.Pushed, Recipients: make([]pubsub.Recipient, inboxLimit/2)}
	for n, want := range []bool{false, true, false, true, false} {
		if got := b.put(big); got != want {
			t.Errorf("overflow at message %d: %v, want %v", n+1, got, want)
		}
	}
	var kinds []string
	for batch := b.take(); len(batch) > 0; batch = b.take() {
		for _, m := range batch {
			kinds = append(kinds, string(m.Kind))
		}
	}
	if diff := cmp.Diff([]string{"j", "+"}, kinds); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if b.weight != 0 {
		t.Errorf("weight of the empty inbox: %d, want 0", b.weight)
	}
}

func TestInbox_ReturnsMessagesInOrder(t *testing.T) {
	t.Parallel()
	b := inbox{ready: make(chan struct{}, 1)}
	for n := range retwis.PostID(2*messageBatch + 10) {
		b.put(pubsub.Message{Post: n})
	}
	var next retwis.PostID
	for batch := b.take(); len(batch) > 0; batch = b.take() {
		if len(batch) > messageBatch {
			t.Errorf("take returned %d messages, want at most %d", len(batch), messageBatch)
		}
		for _, m := range batch {
			if m.Post != next {
				t.Fatalf("message %d, want %d", m.Post, next)
			}
			next++
		}
	}
}
