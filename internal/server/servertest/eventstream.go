package servertest

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The media type of event streams, and the event that ends one.
const (
	MediaEvents  = "text/event-stream"
	AcceptEvents = "Accept: " + MediaEvents
	Complete     = "event: complete\ndata:"
)

// EventStream reads a stream of server-sent events.
type EventStream struct {
	t      *testing.T
	Lines  *bufio.Reader
	Header http.Header
	Close  context.CancelFunc
}

// Events sends an operation and opens the event stream with its responses.
func (h *Harness) Events(query string, headers ...string) *EventStream {
	h.Helper()
	ctx, cancel := context.WithCancel(h.Context())
	body := `{"query":"` + strings.ReplaceAll(query, `"`, `\"`) + `"}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/graphql", strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	for _, header := range append([]string{AcceptEvents, JSON}, headers...) {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w, err := h.HTTP.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != MediaEvents+"; charset=utf-8" {
		h.Fatalf("got status %d with %q", w.StatusCode, w.Header.Get("Content-Type"))
	}
	h.Cleanup(func() {
		cancel()
		_ = w.Body.Close()
	})
	return &EventStream{h.T, bufio.NewReader(w.Body), w.Header, cancel}
}

// Expect compares the next events. The empty one is the end of the stream.
func (c *EventStream) Expect(want ...string) {
	c.t.Helper()
	for _, w := range want {
		var got strings.Builder
		for {
			line, err := c.Lines.ReadString('\n')
			got.WriteString(line)
			if err != nil || line == "\n" {
				break
			}
		}
		if strings.TrimSuffix(got.String(), "\n\n") != w {
			c.t.Fatalf("got event\n%s\nwant\n%s", got.String(), w)
		}
	}
}

// Rest returns the rest of the stream.
func (c *EventStream) Rest() string {
	text, _ := io.ReadAll(c.Lines)
	return string(text)
}

// Event returns the event of the subscription timeline.
func Event(text, cursor, viewer string) string {
	return "event: next\nid: " + cursor + "\ndata: " + `{"data":{"cursor":"` + cursor + `","text":"` + text +
		`","again":"` + cursor + `","viewer":"` + viewer + `"}}`
}
