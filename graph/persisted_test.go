package graph

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"retwis/graph/limits"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// archive keeps documents in memory, and counts how often it is written to.
type archive struct {
	mu     sync.Mutex
	texts  map[string]string
	writes int
	broken error
}

func (a *archive) Document(_ context.Context, hash string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, ok := a.texts[hash]
	if !ok && a.broken == nil {
		return "", retwis.ErrNotFound
	}
	return text, a.broken
}

func (a *archive) KeepDocument(_ context.Context, hash, text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writes++
	if a.broken == nil {
		a.texts[hash] = text
	}
	return a.broken
}

// ask runs a request with extensions, a JSON object.
func (a *api) ask(t *testing.T, query, extensions string) *graphql.Response {
	t.Helper()
	params := &graphql.RawParams{Query: query, Extensions: decode(t, extensions).(map[string]any)}
	ctx := graphql.StartOperationTrace(t.Context())
	op, errs := a.executor.CreateOperationContext(ctx, params)
	if len(errs) > 0 {
		return a.executor.DispatchError(graphql.WithOperationContext(ctx, op), errs)
	}
	responses, ctx := a.executor.DispatchOperation(ctx, op)
	return responses(ctx)
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

// The documents are shared by processes, and found by both protocols.
func TestPersistedDocuments(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, documents limits.DocumentStore) {
		one, other := newAPI(Options{Documents: documents}), newAPI(Options{Documents: documents})
		wantError(t, one.ask(t, "", byHash(kindQuery)), "PERSISTED_QUERY_NOT_FOUND")
		wantData(t, one.ask(t, kindQuery, byHash(kindQuery)), kindData)
		for _, a := range []*api{one, other, newAPI(Options{Documents: documents})} {
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
			test(t, db)
		})
	}
	t.Run("no store", func(t *testing.T) {
		a := newAPI(Options{})
		wantData(t, a.ask(t, kindQuery, byHash(kindQuery)), kindData)
		wantData(t, a.ask(t, "", byHash(kindQuery)), kindData)
	})
}

// A document is kept only if it may be run: what is there was looked at.
func TestWhatIsNotPersisted(t *testing.T) {
	t.Parallel()
	documents := &archive{texts: map[string]string{}}
	a := newAPI(Options{Documents: documents})
	long := kindQuery + "#" + strings.Repeat("x", 16<<10)
	tests := []struct{ name, query, extensions, code string }{
		{"one that does not parse", `{`, byHash(`{`), "GRAPHQL_PARSE_FAILED"},
		{"one that is not valid", `{ nothing }`, byHash(`{ nothing }`), "GRAPHQL_VALIDATION_FAILED"},
		{"one that is too complex", nest(17), byHash(nest(17)), "COMPLEXITY_LIMIT_EXCEEDED"},
		{"the hash of another", kindQuery, byHash("{ viewer { id } }"), "BAD_USER_INPUT"},
		{"a hash that is none", kindQuery, `{"persistedQuery": {"version": 1, "sha256Hash": "00"}}`, "BAD_USER_INPUT"},
		{"a hash in upper case", kindQuery, `{"persistedQuery": {"version": 1, "sha256Hash": "` + strings.ToUpper(hashOf(kindQuery)) + `"}}`, "BAD_USER_INPUT"},
		{"another version", kindQuery, `{"persistedQuery": {"version": 2, "sha256Hash": "` + hashOf(kindQuery) + `"}}`, "BAD_USER_INPUT"},
		{"a version that is none", kindQuery, `{"persistedQuery": {"version": "x"}}`, "BAD_USER_INPUT"},
		{"no object", kindQuery, `{"persistedQuery": []}`, "BAD_USER_INPUT"},
		{"a query with a documentId", kindQuery, byID(hashOf(kindQuery)), "BAD_USER_INPUT"},
		{"an empty documentId", "", byID(""), "BAD_USER_INPUT"},
		{"a documentId that is no string", "", `{"documentId": 1}`, "BAD_USER_INPUT"},
		{"an id that is no hash", "", byID("what"), "PERSISTED_QUERY_NOT_FOUND"},
		{"nothing", "", `{"persistedQuery": null}`, "GRAPHQL_VALIDATION_FAILED"},
		{"too long a document", long, byHash(long), ""},
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

func TestDocumentsAreWrittenNowAndThen(t *testing.T) {
	t.Parallel()
	documents := &archive{texts: map[string]string{}}
	a := newAPI(Options{Documents: documents})
	for range 10 {
		wantData(t, a.ask(t, kindQuery, byHash(kindQuery)), kindData)
		wantData(t, a.ask(t, "", byHash(kindQuery)), kindData)
	}
	if documents.writes != 1 {
		t.Errorf("wrote %d times", documents.writes)
	}
}

func TestPersistedDocumentsOfABadStore(t *testing.T) {
	t.Parallel()
	documents := &archive{texts: map[string]string{}, broken: errors.New("redis is down")}
	a := newAPI(Options{Documents: documents})
	wantError(t, a.ask(t, "", byHash(kindQuery)), "PERSISTED_QUERY_NOT_FOUND")
	wantData(t, a.ask(t, kindQuery, byHash(kindQuery)), kindData)
	if !strings.Contains(a.log.String(), "redis is down") {
		t.Error("the log does not say so")
	}
	a = newAPI(Options{Documents: documents})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_ = a.executor.persisted.MutateOperationParameters(ctx, &graphql.RawParams{Extensions: decode(t, byHash(kindQuery)).(map[string]any)})
	if log := a.log.String(); log != "" {
		t.Errorf("a client that leaves is logged: %s", log)
	}

	documents = &archive{texts: map[string]string{hashOf(kindQuery): `{ viewer { id } }`}}
	a = newAPI(Options{Documents: documents})
	wantError(t, a.ask(t, "", byHash(kindQuery)), "PERSISTED_QUERY_NOT_FOUND")
}

// Redis holds no more documents than it may, and those that are used.
func TestPersistedDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	db, err := store.Open(t.Context(), store.Options{URL: server.URL(), Partitions: 1, Documents: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := []string{"{ a }", "{ b }", "{ c }", "{ d }"}
	for i, text := range texts {
		if i == 3 { // the first is used
			if got, err := db.Document(t.Context(), hashOf(texts[0])); got != texts[0] || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if err := db.KeepDocument(t.Context(), hashOf(text), text); err != nil {
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
		got, err := db.Document(t.Context(), hashOf(text))
		if err == nil {
			found = append(found, got)
		} else if !errors.Is(err, retwis.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"{ a }", "{ c }", "{ d }"}, found); diff != "" {
		t.Error(diff)
	}
}

func TestTrustedDocuments(t *testing.T) {
	t.Parallel()
	const named = `query Kind { publicTimeline { kind } }`
	newTrusting := func(only bool) *api {
		documents := map[string]string{"kind": named, "sha256:" + hashOf(kindQuery): kindQuery}
		trusted, err := limits.TrustDocuments(Schema(), documents, only)
		if err != nil {
			t.Fatal(err)
		}
		return newAPI(Options{Introspection: true, Trusted: trusted})
	}
	open, closed := newTrusting(false), newTrusting(true)
	for _, a := range []*api{open, closed} {
		wantData(t, a.ask(t, "", byID("kind")), kindData)
		wantData(t, a.ask(t, "", byID("sha256:"+hashOf(kindQuery))), kindData)
		wantData(t, a.ask(t, "", byID(hashOf(kindQuery))), kindData)
		wantData(t, a.ask(t, "", byHash(kindQuery)), kindData)
		wantData(t, a.ask(t, kindQuery, byHash(kindQuery)), kindData)
		wantData(t, a.ask(t, named, `{}`), kindData)
		wantError(t, a.ask(t, "", byID("other")), "PERSISTED_QUERY_NOT_FOUND")
	}
	const other = `{ viewer { id } }`
	wantData(t, open.ask(t, other, byHash(other)), `{"viewer": null}`)
	for _, query := range []string{other, kindQuery + " ", `{ __schema { queryType { name } } }`, `{`, ""} {
		wantError(t, closed.ask(t, query, `{}`), "FORBIDDEN")
	}
	wantError(t, closed.ask(t, other, byHash(other)), "FORBIDDEN")
	wantError(t, closed.ask(t, "", byHash(other)), "PERSISTED_QUERY_NOT_FOUND")
	if len(closed.calls) > 0 {
		t.Errorf("made the calls %q", closed.calls)
	}
}

func TestDocumentsThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ id, text, want string }{
		{"a", `{`, "the document a: "},
		{"a", `{ nothing }`, `Cannot query field "nothing"`},
		{"a", `fragment F on User { id }`, "it holds no operation"},
		{"a", nest(401), "nests"},
		{"sha256:00", kindQuery, "the id sha256:00 is not the SHA-256 of its document, which is " + hashOf(kindQuery)},
	} {
		_, err := limits.TrustDocuments(Schema(), map[string]string{tt.id: tt.text}, true)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40s: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestManifests(t *testing.T) {
	t.Parallel()
	for _, manifest := range []string{
		`{"one": "{ a }", "two": "{ b }"}`,
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
			{"id": "one", "name": "A", "type": "query", "body": "{ a }"}, {"id": "two", "name": "B", "type": "query", "body": "{ b }"}]}`,
	} {
		byID, err := limits.ParseManifest([]byte(manifest))
		if diff := cmp.Diff(map[string]string{"one": "{ a }", "two": "{ b }"}, byID); diff != "" || err != nil {
			t.Errorf("%v: %s", err, diff)
		}
	}
	bad := map[string]string{
		`[]`:            "it has to be a JSON object of documents by their ids",
		`{"a": 1}`:      "it has to be a JSON object of documents by their ids",
		`{"a": "{ b }"`: "it has to be a JSON object of documents by their ids",
		``:              "it has to be a JSON object of documents by their ids",
		`{}`:            "it names no document",
		`{"": "{ a }"}`: "a document has no id",
		`{"format": "apollo-persisted-query-manifest", "version": 2, "operations": []}`:                                                   "version 2: want",
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": []}`:                                                   "it names no document",
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "a", "body": "x"}, {"id": "a", "body": "y"}]}`: "the id a occurs twice",
	}
	for _, manifest := range slices.Sorted(maps.Keys(bad)) {
		if _, err := limits.ParseManifest([]byte(manifest)); err == nil || !strings.Contains(err.Error(), bad[manifest]) {
			t.Errorf("%s: got %v, want %s", manifest, err, bad[manifest])
		}
	}
}
