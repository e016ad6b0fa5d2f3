package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"retwis/internal/redistest"
)

// Failures of Redis that pass by themselves have one code on all transports, and say when to retry.
func TestUnavailable_OnAllTransports(t *testing.T) {
	t.Parallel()
	const createPost = `mutation { createPost(input: {text: "x"}) { edge { cursor } userErrors { code } } }`
	config := func(settings ...any) func(*testing.T, *redistest.Node) {
		return func(t *testing.T, node *redistest.Node) {
			t.Helper()
			if err := node.Client().Do(t.Context(), append([]any{"CONFIG", "SET"}, settings...)...).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name       string
		fail       func(*testing.T, *redistest.Node)
		status     int // of the HTTP response: 200 once fields were executed
		retryAfter float64
	}{
		{"out of memory", config("maxmemory", 1), http.StatusOK, 5},
		{"no replica", config("min-replicas-to-write", 1), http.StatusOK, 1},
		{"stopped", func(_ *testing.T, node *redistest.Node) { node.Stop() }, http.StatusServiceUnavailable, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			node := redistest.Server(t)
			p := serve(t, environment("RETWIS_REDIS_URL="+node.URL()))
			c := register(t, p.url, "author")
			socket := c.open()
			tt.fail(t, node)

			expect := func(transport string, text []byte) {
				t.Helper()
				var got struct {
					Errors []struct {
						Message    string
						Extensions map[string]any
					}
				}
				if err := json.Unmarshal(text, &got); err != nil || len(got.Errors) != 1 {
					t.Fatalf("%s: %v in %s", transport, err, text)
				}
				e := got.Errors[0]
				if e.Extensions["code"] != "UNAVAILABLE" || e.Extensions["retryAfter"] != tt.retryAfter || !strings.Contains(e.Message, "try again") {
					t.Errorf("%s: got %s, want UNAVAILABLE with retryAfter %v", transport, text, tt.retryAfter)
				}
			}
			body := mustJSON(t, map[string]any{"query": createPost})
			headers := []string{"Content-Type: application/json", "Authorization: Bearer " + c.token}

			reply, text := c.request("POST", "/graphql", body, headers...)
			expect("HTTP", text)
			if reply.status != tt.status || (tt.status != http.StatusOK && reply.header.Get("Retry-After") == "") {
				t.Errorf("HTTP: status %d with %v", reply.status, reply.header)
			}

			_, text = c.request("POST", "/graphql", body, append(headers, "Accept: text/event-stream")...)
			if _, data, ok := strings.Cut(string(text), "data: "); ok { // else the request was refused before the stream
				text, _, _ := strings.Cut(data, "\n")
				expect("SSE", []byte(text))
			} else {
				expect("SSE", text)
			}

			socket.send(map[string]any{"type": "subscribe", "id": "1", "payload": map[string]any{"query": createPost}})
			if m := socket.read(); m.Type == "error" {
				expect("websocket", []byte(`{"errors":`+string(m.Payload)+`}`))
			} else {
				expect("websocket", m.Payload)
			}
		})
	}
}
