package limits

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
)

// Attack: the same through requests, with the bounds of a process.
func TestPersisted_KeepsTheDocumentsOfOthers(t *testing.T) {
	t.Parallel()
	documents := NewPersisted(nil, nil, TrustedDocuments{}, slog.New(slog.DiscardHandler))
	send := func(address, text string, find bool) string {
		ctx := auth.WithRequest(t.Context(), auth.Request{Address: netip.MustParseAddr(address)})
		params := &graphql.RawParams{Extensions: map[string]any{"persistedQuery": map[string]any{"version": json.Number("1"), "sha256Hash": hashOf(text)}}}
		if !find {
			documents.Keep(ctx, params, text, func(int) error { return nil })
			return ""
		}
		_, err := documents.Find(ctx, params)
		if err != nil {
			return err.Message
		}
		return params.Query
	}
	send("192.0.2.1", "{ a }", false)
	for i := range 2 * maxCached {
		send("192.0.2.2", fmt.Sprintf("{ flood%d: a }", i), false)
	}
	if got := send("192.0.2.3", "{ a }", true); got != "{ a }" {
		t.Errorf("one address evicted the document of another: %s", got)
	}
}

// Attack: one client fills the cache, so that the documents of all others are evicted.
func TestDocumentCache_LimitsTheShareOfAHolder(t *testing.T) {
	t.Parallel()
	c := newDocumentCache(8, 2)
	one, other := ratelimit.Key{User: 1}, ratelimit.Key{User: 2}
	c.add(other, "a", "{ a }")
	for i := range 20 {
		hash := fmt.Sprint(i)
		c.add(one, hash, "{ flood }")
		if got := c.add(one, hash, "{ again }"); got.text != "{ flood }" {
			t.Errorf("a document was replaced by %q", got.text)
		}
	}
	if c.find("a") == nil || c.find("19") == nil || c.find("18") == nil || c.find("17") != nil {
		t.Error("the share of a holder is not limited to its latest documents")
	}
	for i := range 20 { // everybody together
		c.add(ratelimit.Key{User: 3}, fmt.Sprint("x", i), "{ x }")
		c.add(ratelimit.Key{User: 4}, fmt.Sprint("y", i), "{ y }")
		c.add(ratelimit.Key{User: 5}, fmt.Sprint("z", i), "{ z }")
		if c.find("18") == nil {
			t.Error("a document in use was evicted")
		}
	}
	if c.find("a") != nil || c.documents.Len() != 8 {
		t.Errorf("%d documents are cached, want the 8 used most recently", c.documents.Len())
	}
	held := 0
	for _, n := range c.held {
		held += n
	}
	if held != 8 {
		t.Errorf("holders have %d documents of 8", held)
	}
}
