package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// damage is a database that a test corrupts.
type damage struct {
	*engine
	redis.UniversalClient

	reader, author, other, lone retwis.UserID
	list                        retwis.ListID
	posts                       []retwis.PostID // of the author, newest first
}

// only returns the key with a suffix, of which there must be exactly one.
func (d *damage) only(end string) string {
	d.T.Helper()
	found := enginetest.Keys(d.T, d.UniversalClient, "*"+end)
	if len(found) != 1 {
		d.T.Fatalf("keys that end in %s: %v", end, found)
	}
	return found[0]
}

func (d *damage) must(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}

// in returns another key in the partition of a key.
func in(key, rest string) string { return key[:strings.Index(key, "}")+1] + ":" + rest }

func newDamage(t *testing.T, url string) *damage {
	e := newEngine(t, store.Options{URL: url})
	e.Work(fanout.Options{})
	people := e.Register("reader", "author", "other", "lone")
	d := &damage{engine: e, UniversalClient: enginetest.Client(t, url), reader: people[0], author: people[1], other: people[2], lone: people[3]}
	for i := range 12 {
		d.posts = append(d.posts, e.Post(d.author, fmt.Sprint("post ", i, " for @reader")))
		e.Post(d.other, "hello")
	}
	slices.Reverse(d.posts)
	e.Follow(d.reader, d.author)
	e.Follow(d.reader, d.other)
	e.Follow(d.other, d.author)
	list, err := e.Lists.CreateList(t.Context(), d.reader, "some", e.Key())
	d.must(err)
	d.list = list.ID
	d.must(e.Lists.AddListMember(t.Context(), d.reader, d.list, d.author))
	e.Drain()
	return d
}

// in returns the same database for a subtest.
func (d *damage) in(t *testing.T) *damage {
	part := *d
	part.engine = &engine{d.ForSubtest(t)}
	return &part
}
