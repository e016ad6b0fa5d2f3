package httpapi_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"retwis/internal/server/servertest"
)

func TestResponse_IsCompressedForClientsThatAcceptIt(t *testing.T) {
	const acceptGzip = "Accept-Encoding: gzip"
	// The response repeats the alias.
	long := strings.Repeat("a", 1200)
	tests := []struct {
		name, query string
		headers     []string
		compressed  bool
	}{
		{"long", fmt.Sprintf(`{"query":"{ %s: whoami }"}`, long), []string{acceptGzip}, true},
		{"short", `{"query":"{ whoami }"}`, []string{acceptGzip}, false},
		{"not accepted", fmt.Sprintf(`{"query":"{ %s: whoami }"}`, long), []string{"Accept-Encoding: identity"}, false},
		{"with a token", fmt.Sprintf(`{"query":"mutation { %s: login(token: \"fresh\") }"}`, long), []string{acceptGzip}, false},
	}
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				w, body := h.Do("POST", "", tt.query, append(tt.headers, servertest.JSON)...)
				if got := w.Header.Get("Content-Encoding") == "gzip"; got != tt.compressed {
					t.Fatalf("compressed: %t, want %t", got, tt.compressed)
				}
				if !slices.Contains(w.Header["Vary"], "Accept-Encoding") {
					t.Errorf("Vary is %q", w.Header["Vary"])
				}
				if tt.compressed {
					if len(body) > 400 {
						t.Errorf("the compressed response has %d bytes", len(body))
					}
					body = gunzip(t, body)
				}
				if !strings.HasPrefix(body, `{"data":{`) {
					t.Errorf("got %.80q", body)
				}
			})
		}
	})
}

func gunzip(t *testing.T, body string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}
