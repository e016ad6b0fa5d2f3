package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func hashOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func TestKeepDocument_EvictsTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	db, err := store.Open(t.Context(), store.Options{URL: server.URL(), Partitions: 1, Documents: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := []string{"{ a }", "{ b }", "{ c }", "{ d }"}
	for i, text := range texts {
		if i == 3 { // reading the first one makes it recently used
			if got, err := db.Documents.Document(t.Context(), hashOf(texts[0])); got != texts[0] || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if err := db.Documents.StoreDocument(t.Context(), ratelimit.Key{User: retwis.UserID(i + 1)}, hashOf(text), text); err != nil {
			t.Fatal(err)
		}
		index, err := server.Client().Keys(t.Context(), "*:documents").Result() // not those of holders
		if err != nil || len(index) != 1 {
			t.Fatalf("got the keys %q, %v", index, err)
		}
		ago := float64(time.Now().Add(time.Duration(i-10) * time.Minute).UnixMilli())
		if err := server.Client().ZAdd(t.Context(), index[0], redis.Z{Score: ago, Member: hashOf(text)}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	for _, text := range texts {
		got, err := db.Documents.Document(t.Context(), hashOf(text))
		if err == nil {
			found = append(found, got)
		} else if !errors.Is(err, retwis.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"{ a }", "{ c }", "{ d }"}, found); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// Attack: one client stores so many documents that those of all others are deleted.
func TestStoreDocument_LimitsTheShareOfAHolder(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	db, err := store.Open(t.Context(), store.Options{URL: server.URL(), Partitions: 1, Documents: 12})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keep := func(holder ratelimit.Key, text string) {
		t.Helper()
		if err := db.Documents.StoreDocument(t.Context(), holder, hashOf(text), text); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(texts ...string) (found []string) {
		t.Helper()
		for _, text := range texts {
			if got, err := db.Documents.Document(t.Context(), hashOf(text)); err == nil {
				found = append(found, got)
			} else if !errors.Is(err, retwis.ErrNotFound) {
				t.Fatal(err)
			}
		}
		return found
	}
	victim := ratelimit.Key{User: 1}
	attacker := ratelimit.Key{Network: netip.MustParsePrefix("192.0.2.1/32")}
	keep(victim, "{ a }")
	keep(victim, "{ b }")
	var flood []string
	for i := range 30 {
		flood = append(flood, fmt.Sprintf("{ flood%d }", i))
		keep(attacker, flood[i])
		keep(attacker, "{ a }") // is stored already, so it stays the victim's
	}
	if diff := cmp.Diff([]string{"{ a }", "{ b }"}, kept("{ a }", "{ b }")); diff != "" {
		t.Errorf("documents of another holder (-want +got):\n%s", diff)
	}
	if got := kept(flood...); len(got) != 3 {
		t.Errorf("the attacker keeps %q, want a quarter of 12", got)
	}
}
