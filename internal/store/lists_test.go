package store_test

import (
	"errors"
	"testing"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Attack: a list of another partition was refused, but this partition received each later post of the author, for ever. With 512
// partitions, each post of any author took 30 milliseconds more.
func TestAddListMember_RefusesListsOfOtherPartitionsWithoutATrace(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		people := e.Apart(3)
		owner, other, author := people[0], people[1], people[2]
		ofOther := e.CreateList(other)
		err := e.Lists.AddListMember(t.Context(), owner, ofOther, author)
		if !errors.Is(err, retwis.ErrListNotOwned) {
			t.Errorf("the list of another user: %v", err)
		}
		partitions, err := e.Outbox.AuthorPartitions(t.Context(), []retwis.UserID{author})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(partitions[0].Lists); n != 0 {
			t.Errorf("%d partitions receive the author's posts for lists without the author", n)
		}
	})
}
