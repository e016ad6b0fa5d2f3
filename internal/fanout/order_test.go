package fanout

import (
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

func entryOf(user retwis.UserID) *workItem {
	return &workItem{Entry: outbox.Entry{Kind: outbox.KindPost, Author: user}}
}

// Attack: each outbox had a round in flight that served the same authors as before, and somebody's only post waited for all of them.
func TestTurns_TheOutboxOfTheUserWhoWasServedLeastRecentlyIsNext(t *testing.T) {
	t.Parallel()
	turns := newTurns()
	var running []*turn
	for user := range retwis.UserID(roundsPerMaster) {
		w := entryOf(user + 1)
		turns.serve(w)
		turns.sort([]*workItem{w})
		turn := turns.newTurn()
		if !turn.begin(w) {
			t.Fatalf("round %d does not begin", user)
		}
		running = append(running, turn)
	}
	busy, stranger := entryOf(1), entryOf(100)
	turns.sort([]*workItem{busy, stranger})
	first, second := turns.newTurn(), turns.newTurn()
	if first.begin(busy) || second.begin(busy) {
		t.Fatal("more rounds run than may")
	}
	second.begin(stranger) // whose entry has just arrived
	running[0].end()
	select {
	case <-second.begins:
	default:
		t.Fatal("the outbox of the stranger is not next")
	}
	if first.begin(busy) || !second.begin(stranger) {
		t.Error("the outbox of the busy user is next")
	}
	second.end()
	if !first.begin(busy) {
		t.Error("the last outbox does not begin")
	}
	first.end()
	for _, turn := range running[1:] {
		turn.end()
	}
	if turns.running != 0 || len(turns.waiting) != 0 {
		t.Errorf("%d rounds run and %d wait at the end", turns.running, len(turns.waiting))
	}
}

func TestTurns_EndsOfWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, w := newTurns(), entryOf(1)
		for range roundsPerMaster {
			turns.newTurn().begin(w) // for a master that does not answer
		}
		patient, gone, another := turns.newTurn(), turns.newTurn(), turns.newTurn()
		if patient.begin(w) || gone.begin(w) || another.begin(w) {
			t.Fatal("more rounds run than may")
		}
		gone.end()
		until, waits := patient.waitsUntil()
		if !waits {
			t.Fatal("the round does not wait")
		}
		time.Sleep(time.Until(until))
		if !patient.begin(w) {
			t.Error("a round waits for ever")
		}
		patient.end()
		if _, waits := another.waitsUntil(); !waits {
			t.Error("a round beyond the limit made room for another one")
		}
		turns.setMasters(2)
		if !another.begin(w) {
			t.Error("another master makes no room")
		}
		if len(turns.waiting) != 0 {
			t.Errorf("%d rounds wait", len(turns.waiting))
		}
	})
}
