package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/ratelimit"
)

func rateLimited(message, id string) string {
	return `{"type":"error","payload":[{"message":"` + message + `","extensions":{"code":"RATE_LIMITED","retryAfter":30}}],"id":"` + id + `"}`
}

func TestSubscriptionsPerSocket(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		const refused = "this connection has too many subscriptions under way"
		c := h.ready("")
		for i := range 100 {
			c.subscribe(fmt.Sprint(i), feedA)
		}
		c.subscribe("over", feedA)
		c.expect(rateLimited(refused, "over"))
		c.subscribe("query", `{ hello }`) // has a limit of its own
		c.expect(`{"type":"next","payload":{"data":{"hello":"world"}},"id":"query"}`, `{"type":"complete","id":"query"}`)
		c.complete("7")
		c.subscribe("over", feedA)
		c.subscribe("more", feedA)
		c.expect(rateLimited(refused, "more"))
	})
}

func TestQueriesPerSocket(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		for i := range maxSingle {
			c.subscribe(fmt.Sprint(i), `{ gate(name: "g") }`)
		}
		c.subscribe("over", `{ gate(name: "g") }`)
		c.expect(rateLimited("this connection has too many operations under way", "over"))
	})
}

func TestSubscriptionsPerUser(t *testing.T) {
	t.Parallel()
	inBubble(t, func(o *Options) { o.SubscriptionsPerUser = 3 }, func(h *harness) {
		const refused = "this user has too many subscriptions"
		token := h.login(1)
		a, b := h.ready(token), h.ready(h.login(1))
		a.subscribe("1", feedA)
		a.subscribe("2", feedA)
		a.alive()
		b.subscribe("3", feedA)
		b.subscribe("4", feedA)
		b.expect(rateLimited(refused, "4"))
		other, nobody := h.ready(h.login(2)), h.ready("")
		other.subscribe("1", feedA)
		other.alive()
		for i := range 5 {
			nobody.subscribe(fmt.Sprint(i), feedA)
		}
		nobody.alive()

		a.ws.Close() // frees its two
		synctest.Wait()
		b.subscribe("4", feedA)
		b.subscribe("5", feedA)
		b.subscribe("6", feedA)
		b.expect(rateLimited(refused, "6"))
	})
}

func TestSubscriptionsPerNetwork(t *testing.T) {
	t.Parallel()
	onTCP(t, func(o *Options) {
		o.SubscriptionsPerNetwork = 2
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}, func(h *harness) {
		const refused = "too many subscriptions come from here: log in to have your own"
		from := func(address string) *wsClient {
			c := h.socket("X-Forwarded-For: " + address)
			c.send(`{"type":"connection_init"}`)
			c.expect(`{"type":"connection_ack"}`)
			return c
		}
		a, b := from("2001:db8::1"), from("2001:db8::2")
		a.subscribe("1", feedA)
		a.alive()
		b.subscribe("2", feedA)
		b.subscribe("3", feedA)
		b.expect(rateLimited(refused, "3"))
		elsewhere, member := from("2001:db8:0:1::1"), h.ready(h.login(1))
		for _, c := range []*wsClient{elsewhere, member} {
			c.subscribe("1", feedA)
			c.subscribe("2", feedA)
			c.alive()
		}
		member.subscribe("3", feedA)
		member.alive()
		b.complete("2")
		b.subscribe("4", feedA)
		b.alive()
	})
}

func TestSocketsPerNetwork(t *testing.T) {
	t.Parallel()
	onTCP(t, func(o *Options) {
		o.SocketsPerNetwork, o.SocketsPerUser = 2, 1
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}, func(h *harness) {
		const here, neighbour, elsewhere = "X-Forwarded-For: 2001:db8::1", "X-Forwarded-For: 2001:db8::2", "X-Forwarded-For: 2001:db8:0:1::1"
		token := h.login(1)
		first, member := h.socket(here), h.socket(neighbour)
		if _, status, err := h.upgrade(here); err == nil || status != http.StatusTooManyRequests {
			t.Errorf("one socket too many got %d, %v", status, err)
		}
		h.socket(elsewhere)
		if w, _ := h.do(http.MethodGet, "", "", elsewhere, "Connection: Upgrade", "Upgrade: websocket"); w.StatusCode != http.StatusBadRequest {
			t.Errorf("what is no websocket got %d", w.StatusCode)
		}
		h.socket(elsewhere) // what came to nothing is not counted

		init := `{"type":"connection_init","payload":{"authorization":"Bearer ` + token + `"}}`
		member.send(init)
		member.expect(`{"type":"connection_ack"}`)
		second := h.socket(here) // who has logged in counts for themselves
		second.send(init)
		second.expectClose(closeTryLater)
		member.alive()

		first.ws.Close()
		member.ws.Close()
		within(t, func() bool { return h.server.Stats().Clients == 2 }, func() { t.Fatalf("%+v", h.server.Stats()) })
		h.socket(here)
		again := h.socket(here)
		again.send(init)
		again.expect(`{"type":"connection_ack"}`)
	})
}

func TestNoLimitPerUser(t *testing.T) {
	t.Parallel()
	inBubble(t, func(o *Options) {
		o.SubscriptionsPerUser = -1
		o.SubscriptionsPerSocket = 1200
	}, func(h *harness) {
		c := h.ready(h.login(1))
		for i := range 1100 {
			c.subscribe(fmt.Sprint(i), feedA)
		}
		c.alive()
	})
}

// A client that does not read gets nothing any more, costs no more memory than its
// queue, keeps nobody waiting and leaves nothing behind.
func TestReaderThatStops(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		stalled, other := h.ready(""), h.ready("")
		stalled.subscribe("1", feedA)
		other.subscribe("1", `subscription { feed(topic: "b") }`)
		synctest.Wait()
		event := strings.Repeat("x", 10_000)
		sent := 0
		for open := true; open && sent < 1000; {
			select {
			case h.backend.topic("a") <- event:
				sent++
				synctest.Wait()
				h.backend.topic("b") <- "on time"
				other.expect(`{"type":"next","payload":{"data":{"feed":"on time"}},"id":"1"}`)
			default:
				open = false // the subscription is over
			}
		}
		if sent < 100 || sent > 110 {
			h.Errorf("cut off after %d events of 10 kB, want as many as 1 MB holds", sent)
		}
		if n := h.backend.subscriptions(); n != 1 {
			h.Errorf("%d subscriptions are open, want only that of the other reader", n)
		}
		// What was half sent arrives, then the reason.
		stalled.expectClose(1013)
		other.alive()
	})
}

func TestReaderThatNeverComesBack(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.subscribe("1", `{ blob(size: 100000) }`)
		// A pipe holds nothing: the first write stands still until its deadline.
		time.Sleep(11 * time.Second)
		synctest.Wait()
		h.server.sockets.mu.Lock()
		defer h.server.sockets.mu.Unlock()
		if n := len(h.server.sockets.open); n != 0 {
			h.Errorf("%d sockets are open", n)
		}
	})
}

func TestMemoryOfAReaderThatStops(t *testing.T) {
	onTCP(t, nil, func(h *harness) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			h.Fatal(err)
		}
		defer conn.Close()
		c := rawSocket(h.T, conn)
		c.send(`{"type":"connection_init"}`)
		c.expect(`{"type":"connection_ack"}`)
		c.subscribe("1", feedA)

		before := heap()
		event := strings.Repeat("x", 50_000)
		sent := 0
		poll := time.NewTicker(5 * time.Millisecond)
		defer poll.Stop()
		for sent == 0 || h.backend.subscriptions() > 0 {
			select {
			case h.backend.topic("a") <- event:
				sent++
			case <-poll.C:
			}
			if sent > 10_000 {
				h.Fatal("the reader is never cut off")
			}
		}
		// The render cache has a bound of its own.
		cache := &h.server.sockets.classes.shared
		cache.mu.Lock()
		cache.forgetLocked(time.Now().Add(renderingTTL))
		cache.mu.Unlock()
		if grown := heap() - before; grown > 4<<20 {
			h.Errorf("%d events for a reader that stopped hold %d bytes", sent, grown)
		}
		c.expectClose(1013)
	})
}

// rawSocket upgrades a connection that the test holds itself.
func rawSocket(t *testing.T, conn net.Conn) *wsClient {
	t.Helper()
	dialer := websocket.Dialer{
		NetDial:      func(string, string) (net.Conn, error) { return conn, nil },
		Subprotocols: []string{subprotocol},
	}
	ws, w, err := dialer.DialContext(t.Context(), "ws://"+conn.RemoteAddr().String()+"/graphql", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	return &wsClient{t, ws}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestOneResponseMayBeLargerThanTheQueue(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.subscribe("1", `{ blob(size: 3000000) }`)
		if got := len(c.read()); got < 3_000_000 {
			h.Errorf("got %d bytes", got)
		}
		c.expect(`{"type":"complete","id":"1"}`)
	})
}

func TestPingsOfAReaderThatStopsAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		ping := `{"type":"ping","payload":{"a":"` + strings.Repeat("x", 1000) + `"}}`
		var err error
		for range 2000 {
			if err = c.ws.WriteMessage(websocket.TextMessage, []byte(ping)); err != nil {
				break
			}
		}
		synctest.Wait()
		if err == nil {
			c.expectClose(1013)
		}
	})
}

func TestClosedSocketHoldsNoQueue(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.subscribe("1", `subscription { count(to: 50) }`)
		for range 50 {
			c.read()
		}
		c.expect(`{"type":"complete","id":"1"}`)
		synctest.Wait()
		for c := range h.server.sockets.open {
			s := c.(*socket)
			s.conn.mu.Lock()
			if s.conn.queue != nil || s.conn.queued != 0 || s.conn.writing {
				h.Errorf("idle connection holds %d frames, %d bytes, writing %v", len(s.conn.queue), s.conn.queued, s.conn.writing)
			}
			s.conn.mu.Unlock()
		}
	})
}

func TestUpgradeThatIsNone(t *testing.T) {
	onTCP(t, nil, func(h *harness) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			h.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 7\r\n\r\n")
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, " 400 ") {
			h.Errorf("got %q, %v", line, err)
		}
	})
}

func TestSharesAreGivenBack(t *testing.T) {
	s := newShares(2, 1)
	user, nobody := ratelimit.Key{User: 5}, ratelimit.Client{}.Key()
	got := []bool{s.take(user), s.take(user), s.take(user), s.take(nobody), s.take(nobody)}
	if want := []bool{true, true, false, true, false}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v", got)
	}
	s.giveBack(user)
	s.giveBack(user)
	s.giveBack(nobody)
	if len(s.taken) != 0 {
		t.Errorf("%v is left behind", s.taken)
	}
}
