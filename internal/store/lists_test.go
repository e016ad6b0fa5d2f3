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

func TestAddListMember_RefusesAnAuthorOnTooManyListsOfOneOwner(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		people := e.Crowd("person", 4)
		owner, other, author, friend := people[0], people[1], people[2], people[3]
		var lists []retwis.ListID
		for range retwis.MaxListsWithMember {
			lists = append(lists, e.CreateList(owner, author))
			e.CreateList(other, author)
		}
		further := e.CreateList(owner)
		add := func(list retwis.ListID, member retwis.UserID) error {
			return e.Lists.AddListMember(t.Context(), owner, list, member)
		}
		expect := func(what string, err error, code retwis.Code) {
			t.Helper()
			var failure *retwis.Error
			if code == "" && err != nil || code != "" && (!errors.As(err, &failure) || failure.Code != code) {
				t.Errorf("%s: %v, want %q", what, err, code)
			}
		}
		expect("one list more", add(further, author), retwis.CodeLimitReached)
		expect("a list that has the author", add(lists[0], author), "")
		expect("another author", add(further, friend), "")
		expect("the removal from a list", e.Lists.RemoveListMember(t.Context(), owner, lists[0], author), "")
		expect("the list in place of that", add(further, author), "")
		expect("the list before it", add(lists[0], author), retwis.CodeLimitReached)
		expect("the deletion of a list", e.Lists.DeleteList(t.Context(), owner, further), "")
		expect("a list in place of the deleted one", add(lists[0], author), "")
	})
}
