package gqlws_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/gqlws"
	"retwis/internal/server/servertest"
)

func rateLimited(message, id string) string {
	return `{"type":"error","payload":[{"message":"` + message + `","extensions":{"code":"RATE_LIMITED","retryAfter":30}}],"id":"` + id + `"}`
}

func TestLimits_SubscriptionsPerSocket(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		const refused = "this connection has too many running subscriptions"
		c := h.Ready("")
		for i := range 100 {
			c.Subscribe(fmt.Sprint(i), servertest.FeedA)
		}
		c.Subscribe("over", servertest.FeedA)
		c.Expect(rateLimited(refused, "over"))
		c.Subscribe("query", `{ hello }`) // has a limit of its own
		c.Expect(`{"type":"next","payload":{"data":{"hello":"world"}},"id":"query"}`, `{"type":"complete","id":"query"}`)
		c.Complete("7")
		c.Subscribe("over", servertest.FeedA)
		c.Subscribe("more", servertest.FeedA)
		c.Expect(rateLimited(refused, "more"))
	})
}

func TestLimits_QueriesPerSocket(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		for i := range gqlws.MaxSingle {
			c.Subscribe(fmt.Sprint(i), `{ gate(name: "g") }`)
		}
		c.Subscribe("over", `{ gate(name: "g") }`)
		c.Expect(rateLimited("this connection has too many running operations", "over"))
	})
}

func TestLimits_SubscriptionsPerUser(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, func(o *server.Options) { o.SubscriptionsPerUser = 3 }, func(h *servertest.Harness) {
		const refused = "this user has too many subscriptions"
		token := h.Login(1)
		a, b := h.Ready(token), h.Ready(h.Login(1))
		a.Subscribe("1", servertest.FeedA)
		a.Subscribe("2", servertest.FeedA)
		a.ExpectAlive()
		b.Subscribe("3", servertest.FeedA)
		b.Subscribe("4", servertest.FeedA)
		b.Expect(rateLimited(refused, "4"))
		other, nobody := h.Ready(h.Login(2)), h.Ready("")
		other.Subscribe("1", servertest.FeedA)
		other.ExpectAlive()
		for i := range 5 {
			nobody.Subscribe(fmt.Sprint(i), servertest.FeedA)
		}
		nobody.ExpectAlive()

		a.WS.Close() // releases its two subscriptions
		synctest.Wait()
		b.Subscribe("4", servertest.FeedA)
		b.Subscribe("5", servertest.FeedA)
		b.Subscribe("6", servertest.FeedA)
		b.Expect(rateLimited(refused, "6"))
	})
}

// Attack: subscriptions that their clients had completed counted no longer, although their replays waited to render events. So there was no bound for
// what they kept.
func TestLimits_CompletedSubscriptionsCountUntilTheyStop(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, func(o *server.Options) { o.SubscriptionsPerUser = 1 }, func(h *servertest.Harness) {
		gate := make(chan struct{})
		h.Backend.Timelines.BlockOn(gate)
		c := h.Ready(h.Login(1))
		c.Subscribe("1", servertest.News)
		c.ExpectAlive()
		synctest.Wait() // it has started
		c.Complete("1")
		c.ExpectAlive()
		synctest.Wait()
		c.Subscribe("2", servertest.FeedA)
		c.Expect(rateLimited("this user has too many subscriptions", "2"))
		close(gate)
		synctest.Wait()
		c.Subscribe("3", servertest.FeedA)
		c.Subscribe("4", servertest.FeedA)
		c.Expect(rateLimited("this user has too many subscriptions", "4"))
	})
}

func TestLimits_SubscriptionsPerNetwork(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, func(o *server.Options) {
		o.SubscriptionsPerNetwork, o.SubscriptionsPerUser = 3, 2
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}, func(h *servertest.Harness) {
		const refused = "your network has too many subscriptions"
		from := func(address, payload string) *servertest.Socket {
			c := h.Socket("X-Forwarded-For: " + address)
			c.Send(`{"type":"connection_init"` + payload + `}`)
			c.Expect(`{"type":"connection_ack"}`)
			return c
		}
		member := func(address string, user retwis.UserID) *servertest.Socket {
			return from(address, `,"payload":{"authorization":"Bearer `+h.Login(user)+`"}`)
		}
		nobody, ann, bob := from("2001:db8::1", ""), member("2001:db8::2", 1), member("2001:db8::3", 2)
		nobody.Subscribe("1", servertest.FeedA)
		nobody.ExpectAlive()
		ann.Subscribe("2", servertest.FeedA)
		ann.Subscribe("3", servertest.FeedA)
		ann.ExpectAlive()
		bob.Subscribe("4", servertest.FeedA)
		bob.Expect(rateLimited(refused, "4"))

		elsewhere, bobElsewhere := from("2001:db8:0:1::1", ""), member("2001:db8:0:1::2", 2)
		elsewhere.Subscribe("1", servertest.FeedA)
		elsewhere.ExpectAlive()
		bobElsewhere.Subscribe("2", servertest.FeedA)
		bobElsewhere.ExpectAlive()

		ann.Complete("3")
		servertest.Within(t, func() bool { // it counts until it has stopped
			bob.Subscribe("5", servertest.FeedA)
			bob.Subscribe("query", `{ hello }`)
			refused := strings.HasPrefix(bob.Read(), `{"type":"error"`)
			for bob.Read() != `{"type":"complete","id":"query"}` {
			}
			return !refused
		}, func() { t.Fatal("the subscription that was completed still counts") })
		bob.ExpectAlive()

		// A subscription that its user may not have does not count for the network.
		bobElsewhere.Subscribe("6", servertest.FeedA)
		bobElsewhere.Expect(rateLimited("this user has too many subscriptions", "6"))
		elsewhere.Subscribe("7", servertest.FeedA)
		elsewhere.ExpectAlive()
	})
}

// Attack: 440 users of one address had 125 000 queries wait for their turns, on three websockets each. They took 1.8 GB.
func TestLimits_OperationsPerUserAndNetwork(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, func(o *server.Options) { o.OperationsPerUser, o.OperationsPerNetwork = 2, 3 }, func(h *servertest.Harness) {
		const wait = `{ gate(name: "g") }`
		token := h.Login(1)
		a, b, other, nobody := h.Ready(token), h.Ready(h.Login(1)), h.Ready(h.Login(2)), h.Ready("")
		a.Subscribe("1", wait)
		b.Subscribe("2", wait)
		b.ExpectAlive()
		a.Subscribe("3", wait)
		a.Expect(rateLimited("this user has too many running operations", "3"))
		a.Subscribe("events", servertest.FeedA) // has a limit of its own
		a.ExpectAlive()
		other.Subscribe("4", wait)
		other.ExpectAlive()
		nobody.Subscribe("5", wait)
		nobody.Expect(rateLimited("your network has too many running operations", "5"))

		b.Complete("2")
		b.ExpectAlive()
		synctest.Wait() // it counts until it has stopped
		nobody.Subscribe("6", wait)
		nobody.ExpectAlive()
		a.WS.Close()
		synctest.Wait()
		b.Subscribe("7", wait)
		b.ExpectAlive()
		other.Subscribe("8", wait)
		other.Expect(rateLimited("your network has too many running operations", "8"))
		close(h.Backend.Gate("g"))
		b.Expect(`{"type":"next","payload":{"data":{"gate":"through"}},"id":"7"}`, `{"type":"complete","id":"7"}`)
		b.Subscribe("9", `{ hello }`)
		b.Expect(`{"type":"next","payload":{"data":{"hello":"world"}},"id":"9"}`, `{"type":"complete","id":"9"}`)
	})
}

func TestLimits_SocketsPerNetwork(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, func(o *server.Options) {
		o.SocketsPerNetwork, o.SocketsPerUser = 2, 1
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}, func(h *servertest.Harness) {
		const here, neighbour, elsewhere = "X-Forwarded-For: 2001:db8::1", "X-Forwarded-For: 2001:db8::2", "X-Forwarded-For: 2001:db8:0:1::1"
		token := h.Login(1)
		first, member := h.Socket(here), h.Socket(neighbour)
		if _, status, err := h.Upgrade(here); err == nil || status != http.StatusTooManyRequests {
			t.Errorf("a socket above the limit got %d, %v", status, err)
		}
		h.Socket(elsewhere)
		if w, _ := h.Do(http.MethodGet, "", "", elsewhere, "Connection: Upgrade", "Upgrade: websocket"); w.StatusCode != http.StatusBadRequest {
			t.Errorf("a plain request got %d", w.StatusCode)
		}
		h.Socket(elsewhere) // failed upgrades are not counted

		init := `{"type":"connection_init","payload":{"authorization":"Bearer ` + token + `"}}`
		member.Send(init)
		member.Expect(`{"type":"connection_ack"}`)
		if _, status, err := h.Upgrade(here); err == nil || status != http.StatusTooManyRequests {
			t.Errorf("a socket above the limit, of which a user has one, got %d, %v", status, err)
		}
		left := func(clients int) {
			servertest.Within(t, func() bool { return h.Server.Stats().Clients == clients }, func() { t.Fatalf("%+v", h.Server.Stats()) })
		}
		left(4) // the server counts a client after it has answered
		first.WS.Close()
		left(3)
		second := h.Socket(here) // a logged-in client counts for its user, too
		second.Send(init)
		second.ExpectClose(1013)
		member.ExpectAlive()

		member.WS.Close()
		left(2)
		h.Socket(here)
		again := h.Socket(here)
		again.Send(init)
		again.Expect(`{"type":"connection_ack"}`)
	})
}

func TestLimits_CanBeDisabledPerUser(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, func(o *server.Options) {
		o.SubscriptionsPerUser = -1
		o.SubscriptionsPerSocket = 1200
	}, func(h *servertest.Harness) {
		c := h.Ready(h.Login(1))
		for i := range 1100 {
			c.Subscribe(fmt.Sprint(i), servertest.FeedA)
		}
		c.ExpectAlive()
	})
}

func TestHandler_RefusesAFailedUpgrade(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
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
