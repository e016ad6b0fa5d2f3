package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/servertest"
)

// pageBytes is the length of the page that the tests request.
const pageBytes = 100 << 10

// page serves a page with an ETag.
func page(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/page":
		http.NotFound(w, r)
	case r.Method != http.MethodGet:
		http.Error(w, "", http.StatusMethodNotAllowed)
	case r.Header.Get("If-None-Match") != "":
		w.WriteHeader(http.StatusNotModified)
	default:
		_, _ = io.WriteString(w, strings.Repeat("x", pageBytes))
	}
}

// charged returns how much a server charges for what test does. The charge follows the response, so it waits for any.
func charged(h *servertest.Harness, test func()) int {
	h.Helper()
	before := h.Backend.Charged.Load()
	test()
	servertest.Within(h.T, func() bool { return h.Backend.Charged.Load() > before }, func() { h.Error("nothing was charged") })
	return int(h.Backend.Charged.Load() - before)
}

// Attack: requests that execute no operation are free.
func TestServer_ChargesRequestsWithoutAnOperation(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, func(o *server.Options) { o.Web = http.HandlerFunc(page) }, func(h *servertest.Harness) {
		h.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		for _, tt := range []struct {
			name, method, path, body string
			headers                  []string
			status, price            int
		}{
			{"a file", "GET", "/page", "", nil, 200, cost.File(pageBytes)},
			{"a file that the client has", "GET", "/page", "", []string{`If-None-Match: "x"`}, 304, cost.PerRequest},
			{"a file without its body", "HEAD", "/page", "", nil, 405, cost.PerRequest},
			{"a missing file", "GET", "/missing", "", nil, 404, cost.PerRequest},
			{"a path that is not clean", "GET", "//page", "", nil, 307, cost.PerRequest},
			{"the metrics", "GET", "/metrics", "", nil, 404, cost.PerRequest},
			{"a health check", "GET", "/healthz", "", nil, 200, cost.PerRequest},
			{"readiness", "GET", "/readyz", "", nil, 200, cost.PerRequest},
			{"a body that is not read", "POST", "/page", strings.Repeat("x", 50<<10), nil, 405, cost.Refused(50 << 10)},
			{"a preflight", "OPTIONS", "/graphql", "", []string{"Origin: https://evil.test", "Access-Control-Request-Method: POST"}, 403, cost.PerRequest},
			{"a long header", "GET", "/missing", "", []string{"X-Long: " + strings.Repeat("x", 10<<10)}, 404, cost.PerRequest + cost.Received(10<<10)},
			{"many headers", "GET", "/missing", "", manyHeaders(1000), 404, cost.PerRequest + cost.Header(1000*len("X-0000: \r\n"), 1000)},
			{"many short headers", "GET", "/missing", "", manyHeaders(180), 404, cost.PerRequest + cost.Header(0, 180)},
			{"an operation with many short headers", "GET", "/graphql?query=%7Bhello%7D", "", manyHeaders(180), 200, cost.Header(0, 180)},
			{"an upgrade with many short headers", "GET", "/graphql", "", append(manyHeaders(180), "Connection: Upgrade", "Upgrade: websocket"), 400, cost.PerUpgrade + cost.PerRefusal + cost.Header(0, 180)},
			{"an operation with a long header", "GET", "/graphql?query=%7Bhello%7D", "", []string{"X-Long: " + strings.Repeat("x", 10<<10)}, 200, cost.Received(10 << 10)},
		} {
			got := charged(h, func() {
				if w, body := h.Request(tt.method, h.URL+tt.path, tt.body, tt.headers...); w.StatusCode != tt.status {
					t.Errorf("%s: status %d: %.100s", tt.name, w.StatusCode, body)
				}
			})
			if most := tt.price + 20; got < tt.price || got > most { // Go's client sends more headers, and pages of errors have bytes
				t.Errorf("%s: charged %d, want %d", tt.name, got, tt.price)
			}
		}
	})
}

func manyHeaders(n int) (headers []string) {
	for i := range n {
		headers = append(headers, fmt.Sprintf("X-%04d: ", i))
	}
	return headers
}

// Attack: the fields after a body in chunks are read like those of a header.
func TestServer_ChargesForTrailers(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		const body = `{"query":"{ hello }"}`
		fields := strings.Join(manyHeaders(300), "\r\n") + "\r\n"
		got := charged(h, func() {
			c := h.Connect()
			_, _ = fmt.Fprintf(c, "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n%s\r\n", len(body), body, fields)
			if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
				t.Errorf("%q, %v", line, err)
			}
		})
		if want := cost.PerConnection + cost.Trailer(300); got < want || got > want+cost.Unknown(4<<10) { // the bytes may be charged a little later
			t.Errorf("charged %d, want %d", got, want)
		}
	})
}

// Attack: a request that the server refuses before any handler sees it is free.
func TestServer_ChargesMalformedRequests(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		for name, text := range map[string]string{
			"a header that is too long": "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("a:\r\n", 40_000) + "\r\n",
			"no HTTP":                   "nonsense\r\n\r\n",
			"no host":                   "GET / HTTP/1.1\r\n\r\n",
		} {
			conns := []net.Conn{h.Connect()}
			if len(text) > 64<<10 { // a short one after another request costs less than a connection
				conns = append(conns, h.Connect())
				if response, _ := exchange(h, conns[1], "/healthz"); response.StatusCode != http.StatusOK {
					t.Fatal(response.Status)
				}
			}
			for _, c := range conns {
				h.Backend.Charged.Store(0)
				go func() { _, _ = io.WriteString(c, text) }() // the server stops reading
				if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 4") {
					t.Errorf("%s: %q, %v", name, line, err)
				}
				want := int64(cost.Refused(16 << 10))
				servertest.Within(t, func() bool { return h.Backend.Charged.Load() == want }, func() {
					t.Errorf("%s: charged %d, want %d", name, h.Backend.Charged.Load(), want)
				})
			}
		}
		got := charged(h, func() {
			c := h.Connect()
			_, _ = io.WriteString(c, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
			_, _ = bufio.NewReader(c).ReadString('\n')
		})
		if want := cost.PerConnection + cost.PerRequest; got != want {
			t.Errorf("a request about the server as a whole: charged %d, want %d", got, want)
		}
	})
}

// Attack: connections that are closed without a request are free.
func TestServer_ChargesConnectionsWithoutARequest(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		if got := charged(h, func() { _ = h.Connect().Close() }); got != cost.PerRequest {
			t.Errorf("charged %d, want %d", got, cost.PerRequest)
		}
		served := h.Connect()
		exchange(h, served, "/healthz")
		got := charged(h, func() { exchange(h, served, "/healthz") })
		_ = served.Close()
		_ = charged(h, func() { _ = h.Connect().Close() }) // later than the other end
		if total := int(h.Backend.Charged.Load()); got != cost.PerRequest || total != cost.PerConnection+4*cost.PerRequest {
			t.Errorf("a health check cost %d, and everything %d", got, total)
		}
	})
}

// Attack: a new connection for each request takes much longer than a connection for all of them.
func TestServer_ChargesForTheFirstRequestOfAConnection(t *testing.T) {
	t.Parallel()
	trust := func(o *server.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32")} }
	upgrade := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg=="}
	for name, tt := range map[string]struct {
		from, path string
		headers    []string
		charged    []int // for each request on a connection
	}{
		"health checks":              {"198.51.100.2", "/healthz", nil, []int{cost.PerConnection + cost.PerRequest, cost.PerRequest}},
		"operations":                 {"198.51.100.2", helloPath, nil, []int{cost.PerConnection + cost.PerRequest, cost.PerRequest}},
		"an upgrade":                 {"198.51.100.2", "/graphql", upgrade, []int{cost.PerUpgrade}},
		"an upgrade of a file":       {"198.51.100.2", "/healthz", upgrade, []int{cost.PerConnection + cost.PerRequest, cost.PerRequest}},
		"requests through a proxy":   {"198.51.100.1", "/healthz", []string{"X-Forwarded-For: 203.0.113.7"}, []int{cost.PerRequest, cost.PerRequest}},
		"an upgrade through a proxy": {"198.51.100.1", "/graphql", append(upgrade, "X-Forwarded-For: 203.0.113.7"), []int{cost.PerUpgrade}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, trust, func(h *servertest.Harness) {
				c := h.ConnectFrom(tt.from)
				for i, want := range tt.charged {
					before := h.Backend.Charged.Load()
					exchange(h, c, tt.path, tt.headers...)
					synctest.Wait()
					if got := int(h.Backend.Charged.Load() - before); got != want {
						h.Errorf("request %d: charged %d, want %d", i+1, got, want)
					}
				}
			})
		})
	}
}

// Without a budget, files are refused, health checks are not, and the API decides for itself.
func TestServer_RefusesFilesWithoutBudget(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	servertest.OnTCP(t, func(o *server.Options) { o.Web, o.TrustedProxies = http.HandlerFunc(page), proxies }, func(h *servertest.Harness) {
		const client = "X-Forwarded-For: 203.0.113.7"
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		for path, status := range map[string]int{"/page": 429, "/missing": 429, "/healthz": 200, "/readyz": 200, "/graphql?query=%7Bhello%7D": 200} {
			w, body := h.Request(http.MethodGet, h.URL+path, "", client)
			if w.StatusCode != status {
				t.Errorf("%s: status %d: %.100s", path, w.StatusCode, body)
			}
			if status == http.StatusTooManyRequests && (w.Header.Get("Retry-After") == "" || w.Header.Get("Cache-Control") != "no-store") {
				t.Errorf("%s: header %v", path, w.Header)
			}
		}
		before := h.Backend.Charged.Load()
		if w, _ := h.Request(http.MethodGet, h.URL+"/page", ""); w.StatusCode != http.StatusOK || h.Backend.Charged.Load() != before {
			t.Errorf("a trusted proxy: status %d, charged %d", w.StatusCode, h.Backend.Charged.Load()-before)
		}
	})
}

// A page of the web app, with its files, fits into the budget of a network many times.
func TestPrices_LeaveRoomForPages(t *testing.T) {
	t.Parallel()
	const files, bytes = 40, 500 << 10 // more than the web app has, compressed
	load := files*cost.PerRequest + cost.File(bytes)
	reload := files * cost.PerRequest
	const budget = 120_000
	if loads, reloads := budget/load, budget/reload; loads < 150 || reloads < 250 {
		t.Errorf("%d loads, or %d reloads, a minute", loads, reloads)
	}
	if cost.Refused(httpapi.MaxBody) > budget/100 {
		t.Error("a refused request uses up a budget")
	}
}

// Attack: net/http refuses malformed requests at once, also those of a network without budget.
func TestServer_BlocksNetworksThatGoOnWithMalformedRequests(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		send := func(c net.Conn) {
			_, _ = io.WriteString(c, "nonsense\r\n\r\n")
			_, _ = io.Copy(io.Discard, c) // until the server has closed the connection
		}
		send(h.Connect())
		if response, body := exchange(h, h.Connect(), "/healthz"); response.StatusCode != http.StatusOK {
			t.Errorf("with a budget: %s %s", response.Status, body)
		}
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		before := h.Backend.Charged.Load()
		send(h.Connect())
		servertest.Within(t, func() bool { return h.Backend.Charged.Load() > before }, func() { t.Error("nothing was charged") })
		response, body := exchange(h, dialFrom(h, "127.0.0.1"), helloPath)
		wantTooMany(h, "a new connection", response, body)
		if response, body := exchange(h, dialFrom(h, "127.0.0.2"), helloPath); response.StatusCode != http.StatusOK {
			t.Errorf("another network: %s %s", response.Status, body)
		}
	})
}

// Attack: a network without budget that sends large headers has them read for nothing.
func TestServer_BlocksNetworksThatGoOnWithLargeHeaders(t *testing.T) {
	t.Parallel()
	trust := func(o *server.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32")} }
	spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
	long := []string{"X-Long: " + strings.Repeat("x", 8<<10)}
	for name, tt := range map[string]struct {
		from    string
		headers []string
		spent   *error
		blocks  bool
	}{
		"long":                 {"198.51.100.2", long, &spent, true},
		"many fields":          {"198.51.100.2", manyHeaders(61), &spent, true},
		"few fields":           {"198.51.100.2", manyHeaders(55), &spent, false},
		"with a budget":        {"198.51.100.2", long, nil, false},
		"of a proxy":           {"198.51.100.1", long, &spent, false},
		"of a proxy's clients": {"198.51.100.1", append(long, "X-Forwarded-For: 198.51.100.2"), &spent, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, trust, func(h *servertest.Harness) {
				h.Backend.Spent.Store(tt.spent)
				c := h.ConnectFrom(tt.from)
				response, body := exchange(h, c, helloPath, tt.headers...)
				if response.StatusCode != http.StatusOK || response.Close != tt.blocks {
					h.Errorf("%s, closed: %t, %s", response.Status, response.Close, body)
				}
				status := func() int {
					response, _ := exchange(h, h.ConnectFrom("198.51.100.2"), helloPath)
					return response.StatusCode
				}
				if got := status(); (got == http.StatusTooManyRequests) != tt.blocks {
					h.Errorf("a new connection: status %d", got)
				}
				time.Sleep(6 * time.Second)
				if got := status(); got != http.StatusOK {
					h.Errorf("a new connection, later: status %d", got)
				}
			})
		})
	}
}

// Attack: subscriptions with events of a few bytes paid for these only, and not for what it takes to write them.
func TestEvents_CostWhatTheirTransportTakes(t *testing.T) {
	t.Parallel()
	const posts = 8
	socket := func(compressed bool) func(*servertest.Harness) {
		return func(h *servertest.Harness) {
			c := h.SocketWith(websocket.Dialer{NetDialContext: h.Dial, Subprotocols: []string{servertest.Subprotocol}, EnableCompression: compressed})
			c.Send(`{"type":"connection_init"}`)
			c.Expect(`{"type":"connection_ack"}`)
			c.Subscribe("s", servertest.News)
			c.Expect(servertest.Next("s", "caught up", "start", "0"))
		}
	}
	for name, tt := range map[string]struct {
		subscribe func(*servertest.Harness)
		price     int // with 1 KB of events
	}{
		"websocket":            {socket(false), posts / 2},
		"compressed websocket": {socket(true), 2 * posts},
		"event stream": {func(h *servertest.Harness) {
			h.Events(servertest.News).Expect(servertest.Event("caught up", "start", "0"))
		}, posts},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, func(o *server.Options) { o.Compression = true }, func(h *servertest.Harness) {
				tt.subscribe(h)
				synctest.Wait()
				before := h.Backend.Sent.Load()
				for post := range retwis.PostID(posts) {
					h.Backend.Timelines.Publish("news", post+1, "post")
					time.Sleep(10 * time.Millisecond) // a write that waits for its reader loses its turn
				}
				if got := int(h.Backend.Sent.Load() - before); got < tt.price || got > tt.price+5 {
					t.Errorf("%d events cost %d points, want %d, and at most 5 for their bytes", posts, got, tt.price)
				}
			})
		})
	}
}
