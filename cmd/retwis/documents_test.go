package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"retwis/internal/redistest"
)

func TestTrustedOnly_RefusesOtherDocuments(t *testing.T) {
	t.Parallel()
	manifest := filepath.Join(t.TempDir(), "documents.json")
	const documents = `{"kind": "{ publicTimeline { kind } }", "live": "subscription { timelineEvents { cursor } }",
		"register": "mutation ($name: String!, $password: String!) { register(input: {username: $name, password: $password}) { token user { id } userErrors { code } } }"}`
	if err := os.WriteFile(manifest, []byte(documents), 0o600); err != nil {
		t.Fatal(err)
	}
	p := serve(t, environment("RETWIS_REDIS_URL=memory"), "--trusted-documents", manifest, "--trusted-only")
	c := newClient(t, p.url)
	const isJSON = "Content-Type: application/json"
	check := func(method, path, body string, status int, want string) {
		t.Helper()
		got, text := c.request(method, path, []byte(body), isJSON, "Accept: application/graphql-response+json")
		if got.status != status || !strings.Contains(string(text), want) {
			t.Errorf("%s %s %s: got %d %s", method, path, body, got.status, text)
		}
	}
	const kind = `{"data":{"publicTimeline":{"kind":"PUBLIC"}}}`
	check("POST", "/graphql", `{"documentId": "kind"}`, http.StatusOK, kind)
	check("GET", "/graphql?documentId=kind", "", http.StatusOK, kind)
	check("POST", "/graphql", `{"query": "{ publicTimeline { kind } }"}`, http.StatusOK, kind)
	check("POST", "/graphql", `{"query": "{ publicTimeline { id } }"}`, http.StatusBadRequest, `"code":"FORBIDDEN"`)
	check("GET", "/graphql?query="+url.QueryEscape(`{ publicTimeline { id } }`), "", http.StatusBadRequest, `"code":"FORBIDDEN"`)
	check("POST", "/graphql", `{"documentId": "other"}`, http.StatusBadRequest, `"code":"PERSISTED_QUERY_NOT_FOUND"`)
	check("POST", "/graphql", `{"documentId": "kind", "query": "{ publicTimeline { kind } }"}`, http.StatusBadRequest, "not both")
	check("GET", "/graphql?documentId=register&variables="+url.QueryEscape(`{"name": "sneaky", "password": "correct horse"}`), "",
		http.StatusMethodNotAllowed, `"code":"BAD_USER_INPUT"`)
	check("POST", "/graphql", `{"documentId": "register", "variables": {"name": "reader", "password": "correct horse"}}`, http.StatusOK, `"token":"`)

	ws, status := c.dial()
	if ws == nil {
		t.Fatalf("no websocket: status %d", status)
	}
	defer ws.Close()
	exchange(t, ws, `{"type": "connection_init"}`, "connection_ack")
	exchange(t, ws, `{"type": "subscribe", "id": "1", "payload": {"documentId": "live"}}`, "UNAUTHENTICATED")
	exchange(t, ws, `{"type": "subscribe", "id": "2", "payload": {"query": "subscription { timelineEvents { __typename } }"}}`, "FORBIDDEN")
	p.stop()
}

func TestServe_RefusesInvalidManifests(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "documents.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct{ name, manifest, want string }{
		{"a missing file", filepath.Join(t.TempDir(), "none.json"), "no such file"},
		{"not a manifest", write(`[]`), "the manifest must be a JSON object"},
		{"an invalid document", write(`{"a": "{ nothing }"}`), `the document a: `},
	}
	for _, tt := range tests {
		code, _, stderr := invoke(t, environment(), "serve", "--redis-url", "memory", "--trusted-documents", tt.manifest)
		if code != 2 || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "--trusted-documents (RETWIS_TRUSTED_DOCUMENTS)") {
			t.Errorf("%s: code %d, printed\n%s", tt.name, code, stderr)
		}
	}
	code, _, stderr := invoke(t, environment("RETWIS_TRUSTED_ONLY=true"), "serve", "--redis-url", "memory")
	if code != 2 || !strings.Contains(stderr, "set --trusted-documents") {
		t.Errorf("without a manifest: code %d, printed\n%s", code, stderr)
	}
}

// TestPersistedQueries_AreSharedBetweenProcesses registers a document with one process, and uses it on another one over
// every transport.
func TestPersistedQueries_AreSharedBetweenProcesses(t *testing.T) {
	t.Parallel()
	node := redistest.Server(t)
	one, other := serve(t, environment("RETWIS_REDIS_URL="+node.URL())), serve(t, environment("RETWIS_REDIS_URL="+node.URL()))
	const query = `{ publicTimeline { kind } }`
	extensions := fmt.Sprintf(`{"persistedQuery": {"version": 1, "sha256Hash": "%x"}}`, sha256.Sum256([]byte(query)))
	byHash := `{"extensions": ` + extensions + `}`
	check := func(p *process, method, path, body, want string) {
		t.Helper()
		_, text := newClient(t, p.url).request(method, path, []byte(body), "Content-Type: application/json")
		if !strings.Contains(string(text), want) {
			t.Errorf("%s %s: got %s", method, body, text)
		}
	}
	const kind = `{"data":{"publicTimeline":{"kind":"PUBLIC"}}}`
	check(one, "POST", "/graphql", byHash, `"code":"PERSISTED_QUERY_NOT_FOUND"`)
	check(one, "POST", "/graphql", `{"query": "`+query+`", "extensions": `+extensions+`}`, kind)
	check(one, "POST", "/graphql", byHash, kind)
	check(other, "GET", "/graphql?extensions="+url.QueryEscape(extensions), "", kind)
	ws, _ := newClient(t, other.url).dial()
	defer ws.Close()
	exchange(t, ws, `{"type": "connection_init"}`, "connection_ack")
	exchange(t, ws, `{"type": "subscribe", "id": "1", "payload": `+byHash+`}`, kind)
	one.stop()
	other.stop()
}

// exchange sends a message and checks the answer.
func exchange(t *testing.T, ws *websocket.Conn, message, want string) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
		t.Fatal(err)
	}
	if _, text, err := ws.ReadMessage(); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s: got %s, %v", message, text, err)
	}
}
