package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"retwis/internal/server"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/servertest"
)

func TestOrigins_CORS(t *testing.T) {
	const page = "Origin: https://app.example"
	servertest.OnTCP(t, func(o *server.Options) { o.AllowedOrigins = []string{"https://App.example:443"} }, func(h *servertest.Harness) {
		own := "Origin: " + h.URL
		tests := []struct {
			name, method string
			headers      []string
			status       int
			origin       string // that the response allows
		}{
			{"allowed page", "POST", []string{servertest.JSON, page, "Sec-Fetch-Site: cross-site"}, 200, "https://app.example"},
			{"own page", "POST", []string{servertest.JSON, own}, 200, ""},
			{"no page", "POST", []string{servertest.JSON}, 200, ""},
			{"GET by a page of another origin", "GET", []string{"Origin: https://evil.example"}, 200, ""},
			{"preflight of an allowed page", "OPTIONS", []string{page, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"}, 204, "https://app.example"},
			{"preflight of a page of another origin", "OPTIONS", []string{"Origin: https://evil.example", "Access-Control-Request-Method: POST"}, 403, ""},
			{"preflight of a page on another port", "OPTIONS", []string{"Origin: https://app.example:8443", "Access-Control-Request-Method: POST"}, 403, ""},
			{"preflight over http", "OPTIONS", []string{"Origin: http://app.example", "Access-Control-Request-Method: POST"}, 403, ""},
			{"options without preflight", "OPTIONS", nil, 204, ""},
		}
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				body, query := "", ""
				switch tt.method {
				case "POST":
					body = `{"query":"{ hello }"}`
				case "GET":
					query = "query={hello}"
				}
				w, _ := h.Do(tt.method, query, body, tt.headers...)
				got := w.Header.Get("Access-Control-Allow-Origin")
				if w.StatusCode != tt.status || got != tt.origin {
					t.Errorf("got status %d, allowed origin %q", w.StatusCode, got)
				}
				if w.Header.Get("Vary") != "Origin" {
					t.Errorf("got Vary %q", w.Header.Get("Vary"))
				}
				if credentials := w.Header.Get("Access-Control-Allow-Credentials"); (credentials == "true") != (tt.origin != "") {
					t.Errorf("got credentials %q", credentials)
				}
				if allowed := w.Header.Get("Access-Control-Allow-Headers"); tt.status == 204 && tt.origin != "" && !strings.Contains(allowed, "Authorization, Content-Type") {
					t.Errorf("got allowed headers %q", allowed)
				}
			})
		}
	})
}

func TestOrigins_OfWebsockets(t *testing.T) {
	servertest.OnTCP(t, func(o *server.Options) { o.AllowedOrigins = []string{"https://app.example"} }, func(h *servertest.Harness) {
		tests := []struct {
			name, origin string
			want         bool
		}{
			{"missing", "", true},
			{"own", h.URL, true},
			{"allowed", "https://app.example", true},
			{"foreign", "https://evil.example", false},
			{"null", "null", false},
			{"own host as a suffix", "https://app.example.evil.example", false},
			{"own host, another port", "http://127.0.0.1:1", false},
			{"invalid", "%zz", false},
		}
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				ws, status, err := h.Upgrade("Origin: " + tt.origin)
				if err == nil {
					ws.Close()
				}
				if got := err == nil; got != tt.want {
					t.Errorf("got %v, want %v", got, tt.want)
				}
				if !tt.want && status != http.StatusForbidden {
					t.Errorf("got status %d", status)
				}
			})
		}
	})
}

func TestParseOrigins_RefusesOriginsThatNeverMatch(t *testing.T) {
	for _, origin := range []string{"*", "app.example", "https://app.example/", "ftp://app.example", "https://", "null", ""} {
		if _, err := httpapi.ParseOrigins([]string{origin}); err == nil {
			t.Errorf("accepted %q", origin)
		}
	}
}

func TestOrigins_AllowWebsockets(t *testing.T) {
	t.Parallel()
	o, err := httpapi.ParseOrigins([]string{"https://app.test"})
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
		{[]string{"https://api.test:8080"}, false, true}, // an unknown proxy may terminate TLS
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
		if got := o.MayUpgrade(r, tt.tls); got != tt.want {
			t.Errorf("a page of %q, TLS %t: %t", tt.origins, tt.tls, got)
		}
		r.Method = http.MethodPost
		if got := o.MayPost(r, tt.tls); len(tt.origins) == 1 && tt.origins[0] != "" && tt.origins[0] == strings.ToLower(tt.origins[0]) && got != tt.want {
			t.Errorf("a POST from a page of %q, TLS %t: %t, and a websocket %t", tt.origins, tt.tls, got, tt.want)
		}
	}
}
