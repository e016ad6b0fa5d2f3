package server_test

import (
	"net"
	"net/http"
	"testing"
	"time"

	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// Attack: thousands of connections a second, which are closed at once.
func TestConnections_OfAFloodAreIgnored(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, func(o *server.Options) { o.ConnectionsPerNetwork = 1 }, func(h *servertest.Harness) {
		const flood, other = "127.0.0.5", "127.0.0.6"
		open := dialFrom(h, flood)
		wantHello := func(what string, c net.Conn) {
			h.Helper()
			if response, body := exchange(h, c, helloPath); response.StatusCode != http.StatusOK {
				h.Errorf("%s: %s %s", what, response.Status, body)
			}
		}
		wantHello("a connection before the flood", open)
		for end := time.Now().Add(time.Minute); ; {
			c, err := tryDialFrom(h, flood, 500*time.Millisecond)
			if err != nil {
				break
			}
			_ = c.Close()
			if time.Now().After(end) {
				h.Fatal("all connections of a flood are accepted")
			}
		}
		wantHello("the open connection", open)
		wantHello("another network", dialFrom(h, other))
		_ = open.Close()
		wantHello("a connection after the flood", dialFrom(h, flood)) // the kernel tries again
	})
}
