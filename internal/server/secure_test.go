package server_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// TestServer_SetsSecurityHeaders checks a response of each kind.
func TestServer_SetsSecurityHeaders(t *testing.T) {
	t.Parallel()
	const hello = `{"query":"{ hello }"}`
	requests := []struct {
		name, method, path, body string
		headers                  []string
	}{
		{"a query", "POST", "/graphql", hello, []string{"Content-Type: application/json"}},
		{"a query by GET", "GET", "/graphql?query=%7Bhello%7D", "", nil},
		{"a refused query", "POST", "/graphql", `{"query":"{"}`, []string{"Content-Type: application/json"}},
		{"no JSON", "POST", "/graphql", "{", []string{"Content-Type: application/json"}},
		{"a form", "POST", "/graphql", hello, []string{"Content-Type: text/plain"}},
		{"a bad token", "POST", "/graphql", hello, []string{"Content-Type: application/json", "Authorization: Bearer x"}},
		{"another method", "PUT", "/graphql", "", nil},
		{"a stream of events", "POST", "/graphql", hello, []string{"Content-Type: application/json", "Accept: text/event-stream"}},
		{"a preflight", "OPTIONS", "/graphql", "", []string{"Origin: https://evil.test", "Access-Control-Request-Method: POST"}},
		{"a page of another origin", "POST", "/graphql", hello, []string{"Content-Type: application/json", "Origin: https://evil.test"}},
		{"health", "GET", "/healthz", "", nil},
		{"readiness", "GET", "/readyz", "", nil},
		{"a page", "GET", "/", "", nil},
		{"a missing page", "GET", "/nowhere", "", nil},
		{"a path that is not clean", "GET", "//nowhere/..", "", nil},
		{"a panic", "GET", "/panic", "", nil},
	}
	want := map[string]string{
		"X-Content-Type-Options":       "nosniff",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
	}
	servertest.InBubble(t, func(o *server.Options) {
		// A pipe has no peer address that could be trusted.
		o.Web = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/panic" {
				panic("as if")
			}
			http.Error(w, "no such page", http.StatusNotFound)
		})
	}, func(h *servertest.Harness) {
		for _, tt := range requests {
			got, _ := h.Request(tt.method, h.URL+tt.path, tt.body, tt.headers...)
			for name, value := range want {
				if values := got.Header[name]; len(values) != 1 || values[0] != value {
					h.Errorf("%s: %s is %q, want %q", tt.name, name, values, value)
				}
			}
			if got.Header.Get("Strict-Transport-Security") != "" {
				h.Errorf("%s: HSTS without TLS", tt.name)
			}
		}
	})
}

func TestServer_SetsHSTSOverTLS(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, func(o *server.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }, func(h *servertest.Harness) {
		for _, proto := range []string{"http", "https"} {
			got, _ := h.Request("GET", h.URL+"/healthz", "", "X-Forwarded-Proto: "+proto)
			hsts := got.Header.Get("Strict-Transport-Security")
			if told := strings.HasPrefix(hsts, "max-age="); told != (proto == "https") {
				h.Errorf("over %s the header is %q", proto, hsts)
			}
		}
	})
}
