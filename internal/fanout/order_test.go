package fanout

import (
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

func entryOf(user retwis.UserID) *workItem { return entryFrom("", user) }

// entryFrom returns an entry that a user caused from a network.
func entryFrom(network string, user retwis.UserID) *workItem {
	e := outbox.Entry{Kind: outbox.KindPost, Author: user, Origin: network}
	return &workItem{Entry: e, actor: e.Actor()}
}

// Attack: 350 users of a network had one post each, and somebody with two posts a second waited for all of them, because each had been served less
// recently.
func TestTurns_ANetworkHasOneTurn(t *testing.T) {
	t.Parallel()
	turns := newTurns()
	const crowd = 350
	var entries []*workItem
	for user := range retwis.UserID(crowd) {
		entries = append(entries, entryFrom("crowded", user+1))
		turns.serve(entries[user])
	}
	other := entryFrom("other", 2*crowd)
	turns.serve(other)
	turns.serve(entries[0])
	entries = append(entries, other)
	entries = turns.first(entries, len(entries))
	if entries[0] != other {
		t.Errorf("user %d comes before that of another network", entries[0].Author)
	}
	if entries[1].Author != 2 || entries[crowd].Author != 1 {
		t.Errorf("the users of the network are served in another order: %d, and %d last", entries[1].Author, entries[crowd].Author)
	}
}

// Attack: each outbox had a round in flight that served the same authors as before, and somebody's only post waited for all of them.
func TestTurns_TheOutboxOfTheUserWhoWasServedLeastRecentlyIsNext(t *testing.T) {
	t.Parallel()
	turns := newTurns()
	var running []*turn
	for user := range retwis.UserID(roundsPerMaster) {
		w := entryOf(user + 1)
		turns.serve(w)
		turns.first([]*workItem{w}, 1)
		turn := turns.newTurn()
		if !turn.begin(w) {
			t.Fatalf("round %d does not begin", user)
		}
		running = append(running, turn)
	}
	busy, stranger := entryOf(1), entryOf(100)
	turns.first([]*workItem{busy, stranger}, 1)
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
