package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestCORS_AllowsConfiguredOrigins(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_ALLOWED_ORIGINS=https://app.example,http://localhost:5173"))
	c := newClient(t, p.url)
	for origin, allowed := range map[string]bool{
		"https://app.example": true, "http://localhost:5173": true, "https://evil.example": false, "null": false,
	} {
		got, _ := c.request(http.MethodOptions, "/graphql", nil, "Origin: "+origin,
			"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type")
		h := got.header
		if allowed && (got.status != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != origin ||
			h.Get("Access-Control-Allow-Credentials") != "true" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization")) {
			t.Errorf("preflight from %s: %d %v", origin, got.status, h)
		}
		if !allowed && (got.status != http.StatusForbidden || h.Get("Access-Control-Allow-Origin") != "") {
			t.Errorf("preflight from %s: %d %v", origin, got.status, h)
		}

		got, _ = c.post(`{ viewer { id } }`, nil, "Origin: "+origin, "Sec-Fetch-Site: cross-site")
		if shown := got.header.Get("Access-Control-Allow-Origin"); (shown == origin) != allowed || (got.status == http.StatusOK) != allowed {
			t.Errorf("POST from %s: status %d, allowed origin %q", origin, got.status, shown)
		}

		ws, status := c.dial("Origin: " + origin)
		if ws != nil {
			ws.Close()
		}
		if (ws != nil) != allowed || (!allowed && status != http.StatusForbidden) {
			t.Errorf("websocket from %s: status %d", origin, status)
		}
	}
	for _, headers := range [][]string{nil, {"Origin: " + p.url}} { // not a browser, and the service's own origin
		ws, status := c.dial(headers...)
		if ws == nil {
			t.Fatalf("websocket with %q: status %d", headers, status)
		}
		ws.Close()
	}
	p.stop()
}

func TestIntrospection_CanBeDisabled(t *testing.T) {
	t.Parallel()
	const introspection = `{ __schema { queryType { name } } }`
	open, hidden := serve(t, environment("RETWIS_REDIS_URL=memory")), serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_INTROSPECTION=false"))
	if _, a := newClient(t, open.url).post(introspection, nil); len(a.Errors) > 0 {
		t.Errorf("introspection: %v", a.Errors)
	}
	if _, a := newClient(t, hidden.url).post(introspection, nil); len(a.Errors) != 1 {
		t.Errorf("disabled introspection: %+v", a)
	}
	open.stop()
	hidden.stop()
}

func TestRateLimits_CanBeDisabled(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_RATE_LIMITS=off"))
	reader := register(t, p.url, "reader")
	for range 11 { // 11 sockets of 100 subscriptions exceed the limit of 1000 per user
		s := reader.watchNow()
		for i := range 99 {
			s.send(map[string]any{"type": "subscribe", "id": fmt.Sprint("more", i), "payload": map[string]any{
				"query": `subscription { timelineEvents { cursor } }`,
			}})
		}
		for range 99 {
			if m := s.read(); m.Type != "next" {
				t.Fatalf("got %s %s", m.Type, m.Payload)
			}
		}
	}
	p.stop()
}

func TestCompression_IsNegotiated(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		p := serve(t, environment("RETWIS_REDIS_URL=memory", fmt.Sprint("RETWIS_COMPRESSION=", on)))
		reader := register(t, p.url, "reader")
		ws, _, header := reader.handshake()
		if got := header.Get("Sec-WebSocket-Extensions"); strings.HasPrefix(got, "permessage-deflate") != on {
			t.Errorf("with compression %v the extensions are %q", on, got)
		}
		_ = ws.Close()
		live := reader.watchNow()
		text := strings.Repeat("again, ", 30) + "end"
		reader.createPost(text)
		live.expectPost(text)
		p.stop()
	}
}
