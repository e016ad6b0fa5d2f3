package limits_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph"
	"retwis/graph/limits"
	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// documentStore keeps documents in memory and counts its calls.
type documentStore struct {
	mu            sync.Mutex
	texts         map[string]string
	reads, writes int
	unshared      int // reads and writes that no network pays for
	holders       map[ratelimit.Key]int
	broken        error
}

func (a *documentStore) note(ctx context.Context) {
	if cost.Of(ctx) == nil {
		a.unshared++
	}
}

func (a *documentStore) Document(ctx context.Context, hash string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads++
	a.note(ctx)
	text, ok := a.texts[hash]
	if !ok && a.broken == nil {
		return "", retwis.ErrNotFound
	}
	return text, a.broken
}

func (a *documentStore) StoreDocument(ctx context.Context, holder ratelimit.Key, hash, text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writes++
	if a.holders != nil {
		a.holders[holder]++
	}
	a.note(ctx)
	if a.broken == nil {
		a.texts[hash] = text
	}
	return a.broken
}

// ask runs a request with extensions, a JSON object.
func (a *api) ask(t testing.TB, query, extensions string) *graphql.Response {
	t.Helper()
	return a.send(t.Context(), &graphql.RawParams{Query: query, Extensions: decode(t, extensions)})
}

func hashOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func byHash(query string) string {
	return `{"persistedQuery": {"version": 1, "sha256Hash": "` + hashOf(query) + `"}}`
}

func byID(id string) string { return `{"documentId": "` + id + `"}` }

const (
	kindQuery = `{ publicTimeline { kind } }`
	kindData  = `{"publicTimeline": {"kind": "PUBLIC"}}`
)

// Processes share documents, and both protocols find them.
func TestPersisted_FindsDocuments(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, documents limits.DocumentStore) {
		one, other := newAPI(graph.Options{Documents: documents}), newAPI(graph.Options{Documents: documents})
		wantError(t, one.ask(t, "", byHash(kindQuery)), "PERSISTED_QUERY_NOT_FOUND")
		wantData(t, one.ask(t, kindQuery, byHash(kindQuery)), kindData)
		for _, a := range []*api{one, other, newAPI(graph.Options{Documents: documents})} {
			wantData(t, a.ask(t, "", byHash(kindQuery)), kindData)
			wantData(t, a.ask(t, "", byID("sha256:"+hashOf(kindQuery))), kindData)
		}
		wantError(t, other.ask(t, "", byID("sha256:"+hashOf("{ x }"))), "PERSISTED_QUERY_NOT_FOUND")
	}
	for name, url := range map[string]func(t *testing.T) string{
		"one Redis": func(t *testing.T) string { return redistest.Server(t).URL() },
		"cluster":   func(t *testing.T) string { return redistest.SharedCluster(t).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			db, err := store.Open(t.Context(), store.Options{URL: url(t)})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			test(t, db.Documents)
		})
	}
	t.Run("no store", func(t *testing.T) {
		a := newAPI(graph.Options{})
		wantData(t, a.ask(t, kindQuery, byHash(kindQuery)), kindData)
		wantData(t, a.ask(t, "", byHash(kindQuery)), kindData)
	})
}

// Attack: thousands of new documents a second were written for one network, which did not rest for what Redis did for them.
func TestPersisted_TheStoreIsUsedWithinShares(t *testing.T) {
	t.Parallel()
	documents := &documentStore{texts: map[string]string{}}
	one, other := newAPI(graph.Options{Documents: documents}), newAPI(graph.Options{Documents: documents})
	wantError(t, one.ask(t, "", byHash(kindQuery)), "PERSISTED_QUERY_NOT_FOUND")
	wantData(t, one.ask(t, kindQuery, byHash(kindQuery)), kindData)
	wantData(t, other.ask(t, "", byHash(kindQuery)), kindData)
	if documents.reads != 2 || documents.writes != 1 || documents.unshared != 0 {
		t.Errorf("%d reads and %d writes, want 2 and 1; %d are outside of the shares", documents.reads, documents.writes, documents.unshared)
	}
}

// Attack: each user of an address filled a quarter of the store, so four of them deleted the documents of all others.
func TestPersisted_DocumentsCountForTheNetwork(t *testing.T) {
	t.Parallel()
	documents := &documentStore{texts: map[string]string{}, holders: map[ratelimit.Key]int{}}
	a := newAPI(graph.Options{Documents: documents})
	for i, address := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.2"} {
		query := kindQuery + strings.Repeat(" ", i)
		ctx := auth.WithRequest(auth.WithIdentity(t.Context(), auth.Identity{User: retwis.UserID(i + 1)}), auth.Request{Address: netip.MustParseAddr(address)})
		wantData(t, a.send(ctx, &graphql.RawParams{Query: query, Extensions: decode(t, byHash(query))}), kindData)
	}
	want := map[ratelimit.Key]int{}
	for address, n := range map[string]int{"192.0.2.1": 2, "192.0.2.2": 1} {
		want[ratelimit.Client{Address: netip.MustParseAddr(address)}.NetworkKey()] = n
	}
	if !maps.Equal(documents.holders, want) {
		t.Errorf("the documents count for %v, want %v", documents.holders, want)
	}
}

func TestPersisted_KeepsOnlyValidDocuments(t *testing.T) {
	t.Parallel()
	documents := &documentStore{texts: map[string]string{}}
	a := newAPI(graph.Options{Documents: documents})
	long := kindQuery + "#" + strings.Repeat("x", 16<<10)
	tests := []struct{ name, query, extensions, code string }{
		{"a document that does not parse", `{`, byHash(`{`), "GRAPHQL_PARSE_FAILED"},
		{"an invalid document", `{ nothing }`, byHash(`{ nothing }`), "GRAPHQL_VALIDATION_FAILED"},
		{"a document that is too complex", nest(17), byHash(nest(17)), "COMPLEXITY_LIMIT_EXCEEDED"},
		{"the hash of another document", kindQuery, byHash("{ viewer { id } }"), "BAD_USER_INPUT"},
		{"an invalid hash", kindQuery, `{"persistedQuery": {"version": 1, "sha256Hash": "00"}}`, "BAD_USER_INPUT"},
		{"a hash in upper case", kindQuery, `{"persistedQuery": {"version": 1, "sha256Hash": "` + strings.ToUpper(hashOf(kindQuery)) + `"}}`, "BAD_USER_INPUT"},
		{"another version", kindQuery, `{"persistedQuery": {"version": 2, "sha256Hash": "` + hashOf(kindQuery) + `"}}`, "BAD_USER_INPUT"},
		{"an invalid version", kindQuery, `{"persistedQuery": {"version": "x"}}`, "BAD_USER_INPUT"},
		{"an extension of another type", kindQuery, `{"persistedQuery": []}`, "BAD_USER_INPUT"},
		{"a query with a documentId", kindQuery, byID(hashOf(kindQuery)), "BAD_USER_INPUT"},
		{"an empty documentId", "", byID(""), "BAD_USER_INPUT"},
		{"a documentId of another type", "", `{"documentId": 1}`, "BAD_USER_INPUT"},
		{"an unknown documentId", "", byID("what"), "PERSISTED_QUERY_NOT_FOUND"},
		{"an empty request", "", `{"persistedQuery": null}`, "GRAPHQL_VALIDATION_FAILED"},
		{"a document that is too long to keep", long, byHash(long), ""},
		{"no hash", kindQuery, `{"other": 1}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			response := a.ask(t, tt.query, tt.extensions)
			if tt.code != "" {
				wantError(t, response, tt.code)
			} else {
				wantData(t, response, kindData)
			}
			if documents.writes > 0 {
				t.Fatalf("kept %q", documents.texts)
			}
		})
	}
}

func TestPersisted_WritesADocumentOncePerInterval(t *testing.T) {
	t.Parallel()
	documents := &documentStore{texts: map[string]string{}}
	a := newAPI(graph.Options{Documents: documents})
	for range 10 {
		wantData(t, a.ask(t, kindQuery, byHash(kindQuery)), kindData)
		wantData(t, a.ask(t, "", byHash(kindQuery)), kindData)
	}
	if documents.writes != 1 {
		t.Errorf("wrote %d times", documents.writes)
	}
}

// The store keeps the documents used last, so a process tells it about those that it finds in its own memory.
func TestPersisted_RenewsADocumentInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents := &documentStore{texts: map[string]string{hashOf(kindQuery): kindQuery}}
		a := newAPI(graph.Options{Documents: documents})
		for range 3 {
			for range 10 {
				wantData(t, a.ask(t, "", byHash(kindQuery)), kindData)
			}
			time.Sleep(time.Minute)
		}
		if documents.reads != 3 || documents.writes != 0 {
			t.Errorf("%d reads and %d writes in three minutes", documents.reads, documents.writes)
		}
		clear(documents.texts)
		wantData(t, a.ask(t, "", byHash(kindQuery)), kindData)
		if documents.texts[hashOf(kindQuery)] != kindQuery {
			t.Error("the document that the store had lost is not there again")
		}
	})
}

func TestPersisted_SurvivesABrokenStore(t *testing.T) {
	t.Parallel()
	documents := &documentStore{texts: map[string]string{}, broken: errors.New("redis is down")}
	a := newAPI(graph.Options{Documents: documents})
	wantError(t, a.ask(t, "", byHash(kindQuery)), "PERSISTED_QUERY_NOT_FOUND")
	wantData(t, a.ask(t, kindQuery, byHash(kindQuery)), kindData)
	if !strings.Contains(a.log.String(), "redis is down") {
		t.Errorf("the log has no error of the store: %s", a.log)
	}
	a = newAPI(graph.Options{Documents: documents})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.send(ctx, &graphql.RawParams{Extensions: decode(t, byHash(kindQuery))})
	if log := a.log.String(); log != "" {
		t.Errorf("logged a client that disconnected: %s", log)
	}

	documents = &documentStore{texts: map[string]string{hashOf(kindQuery): `{ viewer { id } }`}}
	a = newAPI(graph.Options{Documents: documents})
	wantError(t, a.ask(t, "", byHash(kindQuery)), "PERSISTED_QUERY_NOT_FOUND")
}

// Attack: long documents that are cheap to run, because they consist of a comment.
func TestPersisted_ChargesWhatIsKeptAndRead(t *testing.T) {
	t.Parallel()
	documents := &documentStore{texts: map[string]string{}}
	long := kindQuery + "#" + strings.Repeat("x", 15<<10)
	kept := 10 + len(long)/32
	one, other := newAPI(graph.Options{Documents: documents}), newAPI(graph.Options{Documents: documents})
	for _, tt := range []struct {
		name  string
		api   *api
		query string
		want  int // times the cost is taken
	}{
		{"keeping", one, long, 1},
		{"sending it again", one, long, 0},
		{"its hash", one, "", 0},
		{"its hash, in another process", other, "", 1},
		{"its hash again", other, "", 0},
	} {
		tt.api.limiter.costs = nil
		wantData(t, tt.api.ask(t, tt.query, byHash(long)), kindData)
		got := 0
		for _, cost := range tt.api.limiter.costs {
			if cost.Reads == kept {
				got++
			}
		}
		if got != tt.want {
			t.Errorf("%s: took %v, want %d points %d times", tt.name, tt.api.limiter.costs, kept, tt.want)
		}
	}
}
