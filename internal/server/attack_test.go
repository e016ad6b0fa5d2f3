package server_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"retwis/internal/server/servertest"
)

// trickle writes a text slowly until writing fails, and returns the duration.
func trickle(c net.Conn, text string, pause time.Duration) time.Duration {
	start := time.Now()
	for i := range len(text) {
		if _, err := c.Write([]byte{text[i]}); err != nil {
			break
		}
		time.Sleep(pause)
	}
	return time.Since(start)
}

// Attackers can hold many connections open by sending very slowly.
func TestServer_DisconnectsSlowClients(t *testing.T) {
	t.Parallel()
	const head = "POST /graphql HTTP/1.1\r\nHost: retwis.test\r\nContent-Type: application/json\r\n"
	for _, tt := range []struct {
		name, fast, slow string
		within           time.Duration
	}{
		{"silence", "", "", 6 * time.Second},
		{"slow headers", "", head + "X-Slow: " + strings.Repeat("x", 1000), 6 * time.Second},
		{"endless headers", head, strings.Repeat("X-Slow: x\r\n", 1000), 6 * time.Second},
		{"a missing body", head + "Content-Length: 1000\r\n\r\n", "", 21 * time.Second},
		{"a slow body", head + "Content-Length: 1000\r\n\r\n", strings.Repeat("x", 1000), 22 * time.Second},
		{"a slow body in chunks", head + "Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\nx\r\n", 1000), 22 * time.Second},
		{"nothing after a request", "GET /healthz HTTP/1.1\r\nHost: retwis.test\r\n\r\n", "", 121 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.Connect()
				start := time.Now()
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					_, _ = io.Copy(io.Discard, c) // reads until the server closes the connection
				}()
				if _, err := io.WriteString(c, tt.fast); err != nil {
					h.Fatal(err)
				}
				trickle(c, tt.slow, 500*time.Millisecond)
				<-gone
				if held := time.Since(start); held > tt.within {
					h.Errorf("the connection was held for %v", held)
				}
			})
		})
	}
}
