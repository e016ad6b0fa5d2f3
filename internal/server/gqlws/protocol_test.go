package gqlws_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/servertest"
)

// maxCloseReason is the length of a close reason in bytes, by RFC 6455.
const maxCloseReason = 123

func TestProtocol_InvalidMessageCloses(t *testing.T) {
	tests := []struct{ name, message string }{
		{"no JSON", `{`},
		{"not an object", `"ping"`},
		{"null", `null`},
		{"two values", `{"type":"ping"}{"type":"ping"}`},
		{"no type", `{"id":"1"}`},
		{"type is a number", `{"type":1}`},
		{"unknown type", `{"type":"start","id":"1"}`},
		{"a server's type", `{"type":"next","id":"1","payload":{}}`},
		{"payload of init is a string", `{"type":"connection_init","payload":"token"}`},
		{"payload of ping is a list", `{"type":"ping","payload":[1]}`},
		{"payload of ping is too long", `{"type":"ping","payload":{"a":"` + strings.Repeat("x", 120) + `"}}`},
		{"payload of pong is too long", `{"type":"pong","payload":{"a":"` + strings.Repeat("x", 120) + `"}}`},
		{"a key in another case", `{"Type":"ping"}`},
		{"a key twice", `{"type":"pong","type":"ping"}`},
		{"a key of the payload in another case", `{"type":"subscribe","id":"1","payload":{"QUERY":"{hello}"}}`},
		{"a key of the variables twice", `{"type":"subscribe","id":"1","payload":{"query":"{hello}","variables":{"a":1,"a":2}}}`},
		{"subscribe without id", `{"type":"subscribe","payload":{"query":"{hello}"}}`},
		{"subscribe with empty id", `{"type":"subscribe","id":"","payload":{"query":"{hello}"}}`},
		{"id is a number", `{"type":"subscribe","id":1,"payload":{"query":"{hello}"}}`},
		{"id is too long", `{"type":"subscribe","id":"` + strings.Repeat("i", 257) + `","payload":{"query":"{hello}"}}`},
		{"subscribe without payload", `{"type":"subscribe","id":"1"}`},
		{"subscribe without query", `{"type":"subscribe","id":"1","payload":{}}`},
		{"query is an object", `{"type":"subscribe","id":"1","payload":{"query":{}}}`},
		{"variables are a list", `{"type":"subscribe","id":"1","payload":{"query":"{hello}","variables":[]}}`},
		{"operation name is a number", `{"type":"subscribe","id":"1","payload":{"query":"{hello}","operationName":1}}`},
		{"extensions are a number", `{"type":"subscribe","id":"1","payload":{"query":"{hello}","extensions":1}}`},
		{"payload is a list", `{"type":"subscribe","id":"1","payload":[{"query":"{hello}"}]}`},
		{"complete without id", `{"type":"complete"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.Ready("")
				before := h.Backend.Charged.Load()
				c.Send(tt.message)
				reason := c.ExpectClose(4400)
				if reason == "" || len(reason) > maxCloseReason {
					h.Errorf("got reason %q, want a short one", reason)
				}
				if charged := h.Backend.Charged.Load() - before; charged < cost.PerRefusal {
					h.Errorf("the message is charged %d", charged)
				}
			})
		})
	}
}

func TestProtocol_BinaryMessageCloses(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		if err := c.WS.WriteMessage(websocket.BinaryMessage, []byte(`{"type":"ping"}`)); err != nil {
			h.Fatal(err)
		}
		c.ExpectClose(4400)
	})
}

func TestProtocol_InvalidUTF8Closes(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Send("{\"type\":\"ping\",\"payload\":{\"a\":\"\xff\"}}")
		c.ExpectClose(1007)
	})
}

func TestProtocol_LargeMessageCloses(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", `{ hello } # `+strings.Repeat("x", httpapi.MaxBody-100))
		c.Read()
		c.Read()
		// Much more than the limit: the client must receive the close code although it is still sending.
		c.Send(`{"type":"ping","payload":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`)
		c.ExpectClose(1009)
	})
}

func TestProtocol_SubscribeBeforeAckCloses(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Socket()
		c.Subscribe("1", "{hello}")
		c.ExpectClose(4401)
	})
}

func TestProtocol_MissingSubprotocolCloses(t *testing.T) {
	for _, offer := range []string{"", "graphql-ws", "soap"} {
		t.Run("offer "+offer, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.Socket("Sec-Websocket-Protocol: " + offer)
				c.ExpectClose(4406)
			})
		})
	}
}

func TestProtocol_SelectsTheSubprotocol(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Socket("Sec-Websocket-Protocol: graphql-ws, graphql-transport-ws")
		if got := c.WS.Subprotocol(); got != servertest.Subprotocol {
			h.Errorf("got the subprotocol %q", got)
		}
	})
}

func TestProtocol_MissingInitCloses(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Socket()
		start := time.Now()
		c.ExpectClose(4408)
		if waited := time.Since(start); waited != 3*time.Second {
			h.Errorf("closed after %v", waited)
		}
	})
}

func TestProtocol_InitInTimeStaysOpen(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Socket()
		time.Sleep(2 * time.Second)
		c.Send(`{"type":"connection_init"}`)
		c.Expect(`{"type":"connection_ack"}`)
		time.Sleep(2 * time.Second)
		c.ExpectAlive()
	})
}

func TestProtocol_SecondInitCloses(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Send(`{"type":"connection_init"}`)
		c.ExpectClose(4429)
	})
}

func TestProtocol_DuplicateIDCloses(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		id := strings.Repeat("é", 100)
		c.Subscribe(id, servertest.FeedA)
		c.Subscribe(id, servertest.FeedA)
		if reason := c.ExpectClose(4409); len(reason) > maxCloseReason || !strings.HasPrefix(reason, "Subscriber for é") {
			h.Errorf("got reason %q", reason)
		}
	})
}

func TestProtocol_AnswersPings(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Socket() // also before connection_init
		c.Send(`{"type":"ping"}`)
		c.Expect(`{"type":"pong"}`)
		c.Send(`{"type":"ping","payload":{"a":[1,2]}}`)
		c.Expect(`{"type":"pong","payload":{"a":[1,2]}}`)
		c.Send(`{"type":"pong"}`)
		c.Send(`{"type":"pong","payload":null}`)
		c.ExpectAlive()
	})
}

func TestProtocol_BoundsPings(t *testing.T) {
	t.Parallel()
	for name, ping := range map[string]func(*servertest.Socket){
		"messages": func(c *servertest.Socket) { _ = c.WS.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`)) },
		"pongs":    func(c *servertest.Socket) { _ = c.WS.WriteMessage(websocket.TextMessage, []byte(`{"type":"pong"}`)) },
		"frames": func(c *servertest.Socket) {
			_ = c.WS.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.Ready("")
				ended := make(chan error, 1)
				go func() {
					for {
						if _, _, err := c.WS.ReadMessage(); err != nil {
							ended <- err
							return
						}
					}
				}()
				for range 300 {
					ping(c)
					time.Sleep(time.Second)
				}
				select {
				case err := <-ended:
					h.Fatalf("one ping per second: %v", err)
				default:
				}
				for range 100 {
					ping(c)
				}
				synctest.Wait()
				ping(c)
				if err := <-ended; !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
					h.Errorf("a burst: %v", err)
				}
			})
		})
	}
}

// Attack: thousands of websockets that sent frames of pings, whose reads were free.
func TestProtocol_ChargesPings(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		go func() {
			for err := error(nil); err == nil; { // answers the pings of the server
				_, _, err = c.WS.ReadMessage()
			}
		}()
		synctest.Wait()
		charged := func(want int64, what string, cause func() error) {
			h.Helper()
			before := h.Backend.Charged.Load()
			if err := cause(); err != nil {
				h.Fatal(err)
			}
			synctest.Wait()
			if got := h.Backend.Charged.Load() - before; got != want {
				h.Errorf("%s: charged %d, want %d", what, got, want)
			}
		}
		price := int64(cost.Message(0))
		charged(price, "a message", func() error { return c.WS.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`)) })
		charged(price, "a frame", func() error { return c.WS.WriteMessage(websocket.PingMessage, nil) })
		charged(int64(cost.Message(125)), "a long frame", func() error { return c.WS.WriteMessage(websocket.PingMessage, make([]byte, 125)) })
		charged(price, "a pong that nobody asked for", func() error { return c.WS.WriteMessage(websocket.PongMessage, nil) })
		charged(0, "the answers to pings of the server", func() error {
			time.Sleep(5 * time.Minute)
			return nil
		})
	})
}

func TestProtocol_DropsSilentClients(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		var pings, silent atomic.Int64
		c.WS.SetPingHandler(func(data string) error {
			pings.Add(1)
			if silent.Load() > 0 {
				return nil
			}
			return c.WS.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
		})
		gone := make(chan error, 1)
		go func() {
			_, _, err := c.WS.ReadMessage()
			gone <- err
		}()

		time.Sleep(10*time.Minute + time.Second)
		if n := pings.Load(); n != 24 {
			h.Errorf("got %d pings in ten minutes, want one each 25 s", n)
		}
		select {
		case err := <-gone:
			h.Fatalf("dropped a client that answers pings: %v", err)
		default:
		}
		silent.Store(1)
		start := time.Now()
		<-gone
		if waited := time.Since(start); waited > time.Minute {
			h.Errorf("kept a silent client for %v", waited)
		}
	})
}

// Attack: 1700 websockets of a network without budget send a message a second each. Each packet wakes the process, also while it does not read.
func TestProtocol_EndsSocketsThatSendWithoutBudget(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		const atOnce, every = 3, 30 * time.Second // beside the answers to the pings of the server
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		for what, send := range map[string]func(c *servertest.Socket) error{
			"a ping frame": func(c *servertest.Socket) error { return c.WS.WriteMessage(websocket.PingMessage, nil) },
			"a ping": func(c *servertest.Socket) error {
				return c.WS.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`))
			},
			"a pong": func(c *servertest.Socket) error {
				return c.WS.WriteMessage(websocket.TextMessage, []byte(`{"type":"pong"}`))
			},
			"the end of no operation": func(c *servertest.Socket) error {
				return c.WS.WriteMessage(websocket.TextMessage, []byte(`{"type":"complete","id":"none"}`))
			},
		} {
			h.Backend.Spent.Store(nil)
			c := h.Ready("")
			closed := make(chan error, 1)
			go func() {
				for {
					if _, _, err := c.WS.ReadMessage(); err != nil {
						closed <- err
						return
					}
				}
			}()
			h.Backend.Spent.Store(&spent)
			start := time.Now()
			for range 20 {
				if err := send(c); err != nil {
					h.Fatalf("%s each %v: %v", what, every, err)
				}
				time.Sleep(every)
			}
			if took := time.Since(start); took > 20*every {
				h.Errorf("%s each %v: %v passed", what, every, took)
			}
			sent := 0
			for ; sent < 3*atOnce && send(c) == nil; sent++ {
				time.Sleep(time.Second)
			}
			if err := <-closed; !websocket.IsCloseError(err, websocket.CloseTryAgainLater) || sent < atOnce || sent > atOnce+2 {
				h.Errorf("%s each second: the websocket ended after %d, with %v", what, sent, err)
			}
			_ = c.WS.Close()
		}
	})
}

// Attack: messages and connections that start nothing are free.
func TestProtocol_ChargesWhatStartsNothing(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		charged := func(what string, want int, do func()) {
			h.Helper()
			before := h.Backend.Charged.Load()
			do()
			synctest.Wait()
			if got := int(h.Backend.Charged.Load() - before); got != want {
				h.Errorf("%s: charged %d, want %d", what, got, want)
			}
		}
		var c *servertest.Socket
		charged("a socket", cost.PerUpgrade+cost.PerRequest, func() { c = h.Ready("") })
		charged("the end of no operation", cost.Message(0), func() { c.Complete("none") })
		charged("a ping", cost.Message(0), func() { c.Send(`{"type":"ping"}`) })
		c.Expect(`{"type":"pong"}`)
		charged("a pong", cost.Message(0), func() { c.Send(`{"type":"pong"}`) })
		c.Subscribe("1", servertest.FeedA)
		c.ExpectAlive()
		charged("the end of an operation", cost.Message(0), func() { c.Complete("1") })

		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		charged("the end of no operation without budget", 0, func() { c.Complete("none") })
		c.ExpectAlive()
		for kilobytes, want := range map[int]int64{1: 0, 3: 2, 15: 8} {
			before := h.Backend.Refusals.Load()
			c.Send(`{"type":"subscribe","id":"3","payload":{"query":"{ hello }","extensions":{"x":"` + strings.Repeat("x", kilobytes<<10) + `"}}}`)
			_, _ = c.Read(), c.Read()
			if got := h.Backend.Refusals.Load() - before; got != want {
				h.Errorf("a message of %d KB without budget waited for %d refusals, want %d", kilobytes, got, want)
			}
		}
		h.Backend.Spent.Store(nil)
		long := `{"type":"subscribe","id":"2","payload":{"query":"{ hello }","extensions":{"x":"` + strings.Repeat("x", 200<<10) + `"}}}`
		before := h.Backend.Charged.Load()
		c.Send(long)
		synctest.Wait()
		if got, least := int(h.Backend.Charged.Load()-before), cost.Received(len(long)); got < least || got > least+50 { // and a few reads
			h.Errorf("a long message: charged %d, want %d", got, least)
		}

		const payload = `{"authorization":"Bearer nonsense"}`
		charged("an invalid token", cost.PerUpgrade+cost.Refused(len(payload)), func() {
			c := h.Socket()
			c.Send(`{"type":"connection_init","payload":` + payload + `}`)
			c.ExpectClose(4403)
		})
		for what, send := range map[string]func(c *servertest.Socket) error{
			"a binary message": func(c *servertest.Socket) error { return c.WS.WriteMessage(websocket.BinaryMessage, []byte("x")) },
			"an operation before connection_init": func(c *servertest.Socket) error {
				return c.WS.WriteMessage(websocket.TextMessage, []byte(`{"type":"subscribe","id":"1","payload":{"query":"{ hello }"}}`))
			},
			"connection_init twice": func(c *servertest.Socket) error {
				init := []byte(`{"type":"connection_init"}`)
				return errors.Join(c.WS.WriteMessage(websocket.TextMessage, init), c.WS.WriteMessage(websocket.TextMessage, init))
			},
			"too many pings": func(c *servertest.Socket) error {
				for range 25 {
					if err := c.WS.WriteMessage(websocket.PingMessage, nil); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			before := h.Backend.Charged.Load()
			c := h.Socket()
			go func() { _ = send(c) }()
			for err := error(nil); err == nil; {
				_, _, err = c.WS.ReadMessage()
			}
			synctest.Wait()
			_ = c.WS.Close()
			synctest.Wait()
			if got := h.Backend.Charged.Load() - before; got < cost.PerUpgrade+cost.PerRefusal {
				h.Errorf("%s: charged %d", what, got)
			}
		}
		charged("a foreign origin", cost.PerUpgrade+cost.PerRefusal, func() {
			if _, status, err := h.Upgrade("Origin: https://evil.test"); err == nil || status != http.StatusForbidden {
				h.Errorf("status %d, %v", status, err)
			}
		})
		charged("another version", cost.PerUpgrade+cost.PerRefusal, func() {
			if w, _ := h.Do(http.MethodGet, "", "", "Connection: Upgrade", "Upgrade: websocket"); w.StatusCode != http.StatusBadRequest {
				h.Errorf("status %d", w.StatusCode)
			}
		})
	})
}
