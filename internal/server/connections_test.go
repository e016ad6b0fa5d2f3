package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/cost"
	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// answer is the head of a response.
type answer struct {
	StatusCode int
	Status     string
	Header     http.Header
	Close      bool // the server closes the connection
}

// exchange sends a request for a path on a connection, and returns the response with its body.
func exchange(h *servertest.Harness, c net.Conn, path string, headers ...string) (answer, string) {
	h.Helper()
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: retwis.test\r\n%s\r\n", path, strings.Join(append(headers, ""), "\r\n")); err != nil {
		h.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.Fatal(err)
	}
	return answer{response.StatusCode, response.Status, response.Header, response.Close}, string(body)
}

// dialFrom opens a connection from an address.
func dialFrom(h *servertest.Harness, address string) net.Conn {
	h.Helper()
	c, err := tryDialFrom(h, address, 0)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = c.Close() })
	return c
}

// tryDialFrom does the same within some time, 0 for no limit. The caller closes the connection.
func tryDialFrom(h *servertest.Harness, address string, within time.Duration) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: within}
	return dialer.DialContext(h.Context(), "tcp", strings.TrimPrefix(h.URL, "http://")) //nolint:wrapcheck // of the network
}

func wantTooMany(h *servertest.Harness, what string, response answer, body string) {
	h.Helper()
	if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" || !strings.Contains(body, `"RATE_LIMITED"`) {
		h.Errorf("%s: status %d, header %v, %s", what, response.StatusCode, response.Header, body)
	}
}

const helloPath = "/graphql?query=%7Bhello%7D"

// Attack: many connections of one address.
func TestConnections_AreBoundedPerNetwork(t *testing.T) {
	t.Parallel()
	const most = 3
	registry := prometheus.NewRegistry()
	servertest.OnTCP(t, func(o *server.Options) {
		o.ConnectionsPerNetwork, o.Metrics, o.DrainTime = most, registry, time.Millisecond
	}, func(h *servertest.Harness) {
		var sockets []*servertest.Socket
		for range 2 * most { // after the upgrade, they do not count
			sockets = append(sockets, h.Ready(""))
		}
		var open []net.Conn
		for range most {
			c := dialFrom(h, "127.0.0.1")
			open = append(open, c)
			if response, body := exchange(h, c, helloPath); response.StatusCode != http.StatusOK {
				h.Fatal(response.Status, body)
			}
		}
		response, body := exchange(h, dialFrom(h, "127.0.0.1"), helloPath)
		wantTooMany(h, "one more connection", response, body)
		if response, body := exchange(h, dialFrom(h, "127.0.0.1"), "/healthz"); response.StatusCode != http.StatusOK {
			h.Errorf("a health check: %s %s", response.Status, body)
		}
		if response, body := exchange(h, dialFrom(h, "127.0.0.2"), helloPath); response.StatusCode != http.StatusOK {
			h.Errorf("another network: %s %s", response.Status, body)
		}
		if response, body := exchange(h, open[0], helloPath); response.StatusCode != http.StatusOK {
			h.Errorf("a connection below the limit: %s %s", response.Status, body)
		}
		if got := valueOf(t, registry, "retwis_http_connections_refused_total", ""); got != 2 {
			h.Errorf("%v connections were counted as refused", got)
		}
		for _, c := range sockets {
			c.ExpectAlive()
			_ = c.WS.Close()
		}
		_ = open[1].Close()
		servertest.Within(t, func() bool {
			response, _ := exchange(h, dialFrom(h, "127.0.0.1"), helloPath, "Connection: close")
			return response.StatusCode == http.StatusOK
		}, func() { h.Error("a closed connection still counts") })
		h.Stop()
		servertest.Within(t, func() bool { return valueOf(t, registry, "retwis_http_connections", "") == 0 }, func() {
			h.Errorf("%v connections are open after the end of the server", valueOf(t, registry, "retwis_http_connections", ""))
		})
	})
}

// Behind a trusted proxy, the requests of each client count, and the connections of the proxy do not.
func TestConnections_CountRequestsBehindTrustedProxies(t *testing.T) {
	t.Parallel()
	const most = 3
	servertest.OnTCP(t, func(o *server.Options) {
		o.ConnectionsPerNetwork = most
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	}, func(h *servertest.Harness) {
		ctx, cancel := context.WithCancel(h.Context())
		defer cancel()
		done := make(chan struct{})
		for range most {
			go func() {
				defer func() { done <- struct{}{} }()
				r, _ := http.NewRequestWithContext(ctx, http.MethodGet, h.URL+"/graphql?query=%7Bgate(name:%22g%22)%7D", nil)
				r.Header.Set("X-Forwarded-For", "2001:db8::1")
				if w, err := h.HTTP.Do(r); err == nil {
					_ = w.Body.Close()
				}
			}()
		}
		servertest.Within(t, func() bool { return h.Backend.Waiting() == most }, func() { h.Fatal("the requests do not run") })
		before := h.Backend.Charged.Load()
		response, body := exchange(h, dialFrom(h, "127.0.0.1"), helloPath, "X-Forwarded-For: 2001:db8::2")
		wantTooMany(h, "one more request", response, body)
		if got := h.Backend.Charged.Load() - before; got < cost.PerRequest {
			h.Errorf("one more request: charged %d", got)
		}
		for name, headers := range map[string][]string{
			"another client": {"X-Forwarded-For: 2001:db8:0:1::1"},
			"the proxy":      nil,
		} {
			if response, body := exchange(h, dialFrom(h, "127.0.0.1"), helloPath, headers...); response.StatusCode != http.StatusOK {
				h.Errorf("%s: %s %s", name, response.Status, body)
			}
		}
		close(h.Backend.Gate("g"))
		for range most {
			<-done
		}
		servertest.Within(t, func() bool {
			response, _ := exchange(h, dialFrom(h, "127.0.0.1"), helloPath, "X-Forwarded-For: 2001:db8::2")
			return response.StatusCode == http.StatusOK
		}, func() { h.Error("a request that has ended still counts") })
	})
}
