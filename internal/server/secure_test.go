package server

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// TestEveryAnswerIsSecured looks at an answer of each kind that there is.
func TestEveryAnswerIsSecured(t *testing.T) {
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
		{"a foreign page", "POST", "/graphql", hello, []string{"Content-Type: application/json", "Origin: https://evil.test"}},
		{"health", "GET", "/healthz", "", nil},
		{"readiness", "GET", "/readyz", "", nil},
		{"a page", "GET", "/", "", nil},
		{"no page", "GET", "/nowhere", "", nil},
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
	inBubble(t, func(o *Options) {
		// The other end of a pipe has no address that could be trusted.
		o.Web = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/panic" {
				panic("as if")
			}
			http.Error(w, "no such page", http.StatusNotFound)
		})
	}, func(h *harness) {
		for _, tt := range requests {
			got, _ := h.request(tt.method, h.url+tt.path, tt.body, tt.headers...)
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

func TestOverTLSBrowsersAreToldToStayThere(t *testing.T) {
	t.Parallel()
	onTCP(t, func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }, func(h *harness) {
		for _, proto := range []string{"http", "https"} {
			got, _ := h.request("GET", h.url+"/healthz", "", "X-Forwarded-Proto: "+proto)
			hsts := got.Header.Get("Strict-Transport-Security")
			if told := strings.HasPrefix(hsts, "max-age="); told != (proto == "https") {
				h.Errorf("over %s it says %q", proto, hsts)
			}
		}
	})
}

func TestOriginsOfSockets(t *testing.T) {
	t.Parallel()
	o, err := parseOrigins([]string{"https://app.test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		origins []string
		tls     bool
		want    bool
	}{
		{nil, false, true},
		{[]string{"http://api.test:8080"}, false, true},
		{[]string{"https://api.test:8080"}, false, true}, // TLS may end at a proxy nobody told us of
		{[]string{"https://API.test:8080"}, true, true},
		{[]string{"http://api.test:8080"}, true, false},
		{[]string{"https://app.test"}, true, true},
		{[]string{"http://app.test"}, true, false},
		{[]string{"https://app.test.evil.test"}, false, false},
		{[]string{"https://evil.test/https://app.test"}, false, false},
		{[]string{"http://api.test"}, false, false},
		{[]string{"null"}, false, false},
		{[]string{""}, false, false},
		{[]string{"http://api.test:8080", "https://evil.test"}, false, false},
	} {
		r := &http.Request{Host: "api.test:8080", Header: http.Header{}}
		if tt.origins != nil {
			r.Header["Origin"] = tt.origins
		}
		if got := o.mayUpgrade(r, tt.tls); got != tt.want {
			t.Errorf("a page of %q, TLS %t: %t", tt.origins, tt.tls, got)
		}
	}
}
