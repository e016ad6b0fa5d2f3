package fanout

import (
	"fmt"
	"testing"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// More authors than a runner remembers have entries, which all wait for rounds that serve a few. Each of them is served once before somebody is served again.
func TestReadyHeads_NobodyWaitsForUsersWhoWereServed(t *testing.T) {
	t.Parallel()
	const authors, ofRound, cycles = 5 * window, 100, 3
	r := newRunner(New(nil, nil, Options{}), 0, "")
	var entries []outbox.Entry
	for range cycles {
		for author := range authors {
			entries = append(entries, outbox.Entry{ID: fmt.Sprintf("1-%d", len(entries)), Kind: outbox.KindPost, Author: retwis.UserID(author + 1)})
		}
	}
	r.admit(entries)
	for cycle := range cycles {
		served := map[retwis.UserID]bool{}
		for range authors / ofRound {
			r.dequeueDone()
			for _, w := range r.readyHeads()[:ofRound] {
				if served[w.Author] {
					t.Fatalf("cycle %d: author %d was served twice before others", cycle, w.Author)
				}
				served[w.Author] = true
				r.turns.serve(w)
				w.done = true
			}
			r.turns.forget(len(r.activeKeys))
			if n := len(r.turns.last); n > 2*(authors+window) {
				t.Fatalf("%d users are remembered", n)
			}
		}
	}
}
