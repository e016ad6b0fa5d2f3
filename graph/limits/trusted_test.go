package limits_test

import (
	"strings"
	"testing"

	"retwis/graph"
	"retwis/graph/limits"
)

func TestTrustedDocuments_AreFoundByTheirIDs(t *testing.T) {
	t.Parallel()
	const named = `query Kind { publicTimeline { kind } }`
	newTrusting := func(only bool) *api {
		documents := map[string]string{"kind": named, "sha256:" + hashOf(kindQuery): kindQuery}
		trusted, err := limits.TrustDocuments(graph.Schema(), documents, only)
		if err != nil {
			t.Fatal(err)
		}
		return newAPI(graph.Options{Introspection: true, Trusted: trusted})
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
	if n := closed.backend.calls; n > 0 {
		t.Errorf("made %d calls, want none", n)
	}
}

func TestTrustDocuments_ReportsBadDocuments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ id, text, want string }{
		{"a", `{`, "the document a: "},
		{"a", `{ nothing }`, `Cannot query field "nothing"`},
		{"a", `fragment F on User { id }`, "contains no operation"},
		{"a", nest(401), "nests"},
		{"sha256:00", kindQuery, "the id sha256:00 is not the SHA-256 of its document, which is " + hashOf(kindQuery)},
	} {
		_, err := limits.TrustDocuments(graph.Schema(), map[string]string{tt.id: tt.text}, true)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40s: got %v, want %s", tt.text, err, tt.want)
		}
	}
}
