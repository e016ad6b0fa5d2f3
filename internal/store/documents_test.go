package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

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
		if err := db.Documents.StoreDocument(t.Context(), hashOf(text), text); err != nil {
			t.Fatal(err)
		}
		index, err := server.Client().Keys(t.Context(), "*:documents").Result()
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
