package fanout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

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
	d.t.Helper()
	found := keys(d.t, d.UniversalClient, "*"+end)
	if len(found) != 1 {
		d.t.Fatalf("keys that end in %s: %v", end, found)
	}
	return found[0]
}

func (d *damage) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// in returns another key in the partition of a key.
func in(key, rest string) string { return key[:strings.Index(key, "}")+1] + ":" + rest }

func newDamage(t *testing.T, url string) *damage {
	e := newEngine(t, store.Options{URL: url})
	e.work(fanout.Options{})
	people := e.register("reader", "author", "other", "lone")
	d := &damage{engine: e, UniversalClient: raw(t, url), reader: people[0], author: people[1], other: people[2], lone: people[3]}
	for i := range 12 {
		d.posts = append(d.posts, e.post(d.author, fmt.Sprint("post ", i, " for @reader")))
		e.post(d.other, "hello")
	}
	slices.Reverse(d.posts)
	e.follow(d.reader, d.author)
	e.follow(d.reader, d.other)
	e.follow(d.other, d.author)
	list, err := e.Lists.CreateList(t.Context(), d.reader, "some", e.key())
	d.must(err)
	d.list = list.ID
	d.must(e.Lists.AddListMember(t.Context(), d.reader, d.list, d.author))
	e.drain()
	return d
}

// in returns the same database for a subtest.
func (d *damage) in(t *testing.T) *damage {
	part := *d
	part.engine = &engine{Store: d.Store, url: d.url, t: t, keys: d.keys}
	d.keys += 1000 // subtests use different idempotency keys
	return &part
}
