package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

// names is a source of users that counts the reads of each.
type names struct {
	name  string
	reads map[retwis.UserID]int
	err   error
	slow  time.Duration
}

func (n *names) read(_ context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	if n.err != nil {
		return nil, n.err
	}
	users := make([]*retwis.User, len(ids))
	for i, id := range ids {
		n.reads[id]++
		if id != 404 {
			users[i] = &retwis.User{ID: id, DisplayName: n.name}
		}
	}
	time.Sleep(n.slow) // the answer is on its way
	return users, nil
}

func TestAuthors_AreCachedForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cache, n := &authorCache{}, &names{name: "before", reads: map[retwis.UserID]int{}}
		get := func(ids ...retwis.UserID) []*retwis.User {
			users, err := cache.get(t.Context(), ids, n.read)
			if err != nil {
				t.Fatal(err)
			}
			return users
		}
		get(1, 2)
		n.name = "after"
		time.Sleep(authorTTL - 1)
		if users := get(2, 404, 1); users[0].ID != 2 || users[0].DisplayName != "before" || users[1] != nil || users[2].ID != 1 {
			t.Errorf("got %v", users)
		}
		if n.reads[1] != 1 || n.reads[404] != 1 {
			t.Errorf("read %v", n.reads)
		}
		time.Sleep(time.Nanosecond)
		if users := get(1); users[0].DisplayName != "after" {
			t.Error("an author is remembered for more than a second")
		}
		get(404)
		if n.reads[404] != 1 {
			t.Error("that there is no such author is not remembered")
		}
	})
}

func TestAuthors_ExpireByTheTimeOfTheRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cache, n := &authorCache{}, &names{name: "before", reads: map[retwis.UserID]int{}, slow: authorTTL - 1}
		read := func() string {
			users, err := cache.get(t.Context(), []retwis.UserID{1}, n.read)
			if err != nil {
				t.Fatal(err)
			}
			return users[0].DisplayName
		}
		read()
		n.name = "after"
		if read() != "before" {
			t.Error("a slow read is not remembered at all")
		}
		time.Sleep(time.Nanosecond)
		if read() != "after" {
			t.Error("the time that a read took does not count")
		}
	})
}

func TestAuthors_AreDroppedWhenTheyChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cache, n := &authorCache{}, &names{name: "before", reads: map[retwis.UserID]int{}}
		read := func() string {
			users, err := cache.get(t.Context(), []retwis.UserID{1, 2}, n.read)
			if err != nil {
				t.Fatal(err)
			}
			return users[0].DisplayName + " " + users[1].DisplayName
		}
		read()
		n.name = "after"
		if err := errors.Join(cache.handleMessage("1", false), cache.handleMessage("3", false)); err != nil {
			t.Error(err)
		}
		if got := read(); got != "after before" {
			t.Errorf("got %s when the first has changed", got)
		}
		if err := cache.handleMessage("", true); err != nil {
			t.Error(err)
		}
		if cache.handleMessage("nonsense", false) == nil {
			t.Error("nonsense is taken for an author")
		}
		if got := read(); got != "after after" {
			t.Errorf("got %s when all may have changed", got)
		}

		// A read that is overtaken by a change is not remembered.
		n.name, n.slow = "overtaken", time.Millisecond
		cache.invalidateAll()
		go func() { _, _ = cache.get(t.Context(), []retwis.UserID{1, 2}, n.read) }()
		synctest.Wait()
		n.name, n.slow = "new", 0
		cache.invalidate(1)
		time.Sleep(time.Second / 2)
		if got := read(); got != "new new" {
			t.Errorf("got %s from a read that a change has overtaken", got)
		}
	})
}

// Entries do not expire in this test: only the message of the other process drops them.
func TestAuthors_AreDroppedWhenTheyChangeElsewhere(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		here, there := open(t, Options{URL: url}), open(t, Options{URL: url})
		author := register(t, there, "author")
		watching := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { watching <- here.Accounts.WatchAuthors(ctx) }()
		defer func() {
			cancel()
			<-watching
		}()
		eventually(t, func() bool {
			_, changes := here.Accounts.authors.find(time.Now(), nil, nil)
			return changes > 0 // it listens from now on
		})
		old := []*retwis.User{{ID: author[0], DisplayName: "before"}}
		_, changes := here.Accounts.authors.find(time.Now(), nil, nil)
		here.Accounts.authors.add(time.Now().Add(24*time.Hour), author, old, changes)
		after := "after"
		eventually(t, func() bool { // nobody promises that a message arrives
			if _, err := there.Accounts.UpdateProfile(t.Context(), author[0], retwis.ProfileChange{DisplayName: &after}); err != nil {
				t.Fatal(err)
			}
			users, err := here.Accounts.Authors(t.Context(), author)
			if err != nil {
				t.Fatal(err)
			}
			return users[0].DisplayName == after
		})
	})
}

func TestAuthors_CacheIsBounded(t *testing.T) {
	t.Parallel()
	cache, n := &authorCache{}, &names{reads: map[retwis.UserID]int{}}
	for i := range 5 * maxAuthors {
		if _, err := cache.get(t.Context(), []retwis.UserID{retwis.UserID(i + 1)}, n.read); err != nil {
			t.Fatal(err)
		}
		if len(cache.recent)+len(cache.older) > 2*maxAuthors {
			t.Fatalf("%d authors are remembered", len(cache.recent)+len(cache.older))
		}
	}
}

func TestAuthors_FailedReadsAreNotCached(t *testing.T) {
	t.Parallel()
	cache, n := &authorCache{}, &names{reads: map[retwis.UserID]int{}, err: errors.New("an outage")}
	if _, err := cache.get(t.Context(), []retwis.UserID{1}, n.read); !errors.Is(err, n.err) {
		t.Fatal(err)
	}
	n.err = nil
	if users, err := cache.get(t.Context(), []retwis.UserID{1}, n.read); err != nil || users[0] == nil {
		t.Errorf("got %v, %v after the outage", users, err)
	}
}
