package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Attack: Redis compares all members of a packed set before those that a search looks for. Words and prefixes that sort behind most
// names took 3 to 8 milliseconds for 110 to 150 points.
func TestSearch_IsChargedForTheNamesThatAPackedSetCompares(t *testing.T) {
	t.Parallel()
	const names = 960
	server := redistest.Server(t, "--zset-max-listpack-entries", "1024")
	client := enginetest.Client(t, server.URL())
	e := newEngine(t, store.Options{URL: server.URL(), Partitions: 1})
	e.registerAs("zoe", "Zoe")
	for _, index := range []string{"names", "words"} {
		members := make([]redis.Z, names)
		for i := range members {
			members[i].Member = fmt.Sprintf("n%03d %d", i, i+1)
		}
		keys := enginetest.Keys(t, client, "*:"+index)
		if len(keys) != 1 {
			t.Fatalf("keys of the %s: %v", index, keys)
		}
		if err := client.ZAdd(t.Context(), keys[0], members...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	find := func(query string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := e.Accounts.FindUsers(ctx, query, 10)
			return err
		}
	}
	search := func(prefix string, page retwis.Page) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := e.Accounts.SearchUsers(ctx, prefix, page)
			return err
		}
	}
	for name, tt := range map[string]struct {
		read func(context.Context) error
		want int // how often all names are compared
		each int // users whose words are compared with those of the query
	}{
		"a word":                              {find("zoe"), 2, 0},
		"words of many users":                 {find("n0 n1 n2 n3 n4 n5 n6 n7"), 9, 100},
		"words of which nobody has the first": {find("zz n1 n2 n3 n4 n5 n6 n7"), 2, 0},
		"the last names":                      {search("z", retwis.Page{First: 1}), 3, 0},
		"the last names, backward":            {search("z", retwis.Page{Last: 1}), 2, 0},
		"after a name":                        {search("n", retwis.Page{First: 1, After: retwis.NameCursor("n958")}), 3, 0},
		"the first names":                     {search("a", retwis.Page{First: 1}), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			work := workOf(t, func(ctx context.Context) {
				if err := tt.read(ctx); err != nil {
					t.Error(err)
				}
			})
			const once, perUser = names / 12, 15
			if least := tt.want*once + tt.each*perUser; work.Rows < least || work.Rows > least+5*once {
				t.Errorf("charged %d rows, want at least %d", work.Rows, least)
			}
		})
	}
}
