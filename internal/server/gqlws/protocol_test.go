package gqlws_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

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
				c.Send(tt.message)
				reason := c.ExpectClose(4400)
				if reason == "" || len(reason) > maxCloseReason {
					h.Errorf("got reason %q, want a short one", reason)
				}
				if h.Backend.RefusedBytes.Load() == 0 {
					h.Error("the message is not charged")
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
		c.Send(`{"type":"ping","payload":{"a":"` + strings.Repeat("x", 4<<20) + `"}}`)
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

func TestProtocol_RunsOperations(t *testing.T) {
	tests := []struct {
		name, query string
		want        []string
	}{
		{"query", `{ hello }`, []string{
			`{"type":"next","payload":{"data":{"hello":"world"}},"id":"1"}`,
			`{"type":"complete","id":"1"}`,
		}},
		{"mutation", `mutation { hello }`, []string{
			`{"type":"next","payload":{"data":{"hello":"world"}},"id":"1"}`,
			`{"type":"complete","id":"1"}`,
		}},
		{"subscription that ends", `subscription { count(to: 2) }`, []string{
			`{"type":"next","payload":{"data":{"count":0}},"id":"1"}`,
			`{"type":"next","payload":{"data":{"count":1}},"id":"1"}`,
			`{"type":"complete","id":"1"}`,
		}},
		{"execution error", `{ fail }`, []string{
			`{"type":"next","payload":{"errors":[{"message":"no luck"}],"data":null},"id":"1"}`,
			`{"type":"complete","id":"1"}`,
		}},
		{"parse error", `{`, []string{
			`{"type":"error","payload":[{"message":"Expected Name, found \u003cEOF\u003e","locations":[{"line":1,"column":2}],"extensions":{"code":"GRAPHQL_PARSE_FAILED"}}],"id":"1"}`,
		}},
		{"refused subscription", `subscription { private }`, []string{
			`{"type":"error","payload":[{"message":"you do not have access to this","extensions":{"code":"FORBIDDEN"}}],"id":"1"}`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.Ready("")
				c.Subscribe("1", tt.query)
				c.Expect(tt.want...)
				c.ExpectAlive() // nothing follows
				c.Subscribe("1", `{ hello }`)
				c.Expect(`{"type":"next","payload":{"data":{"hello":"world"}},"id":"1"}`, `{"type":"complete","id":"1"}`)
			})
		})
	}
}

func TestProtocol_PassesVariablesAndOperationName(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Send(`{"id":"\"<1>","type":"subscribe","payload":{"query":"query A($n: Int!) { echo(value: $n) } query B { hello }","operationName":"A","variables":{"n":7},"extensions":null}}`)
		c.Expect(
			`{"type":"next","payload":{"data":{"echo":7}},"id":"\"\u003c1\u003e"}`,
			`{"type":"complete","id":"\"\u003c1\u003e"}`,
		)
	})
}

func TestProtocol_HidesPanics(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", `{ panics }`)
		got := c.Read()
		if !strings.HasPrefix(got, `{"type":"error","payload":[{"message":"internal error","extensions":{"code":"INTERNAL_SERVER_ERROR","id":`) ||
			strings.Contains(got, "cheese") {
			h.Errorf("got %s", got)
		}
		if !strings.Contains(h.Logs.String(), "out of cheese") {
			h.Error("the log lacks the cause")
		}
		c.ExpectAlive()
	})
}

func TestProtocol_RunsConcurrentOperations(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("a", servertest.FeedA)
		c.Subscribe("b", servertest.FeedB)
		c.Subscribe("q", `{ gate(name: "g") }`)
		c.Subscribe("m", `mutation { hello }`)
		c.Expect(`{"type":"next","payload":{"data":{"hello":"world"}},"id":"m"}`, `{"type":"complete","id":"m"}`)
		h.Backend.Topic("b") <- "one"
		c.Expect(`{"type":"next","payload":{"data":{"feed":"one"}},"id":"b"}`)
		h.Backend.Topic("a") <- "two"
		c.Expect(`{"type":"next","payload":{"data":{"feed":"two"}},"id":"a"}`)
		close(h.Backend.Gate("g"))
		c.Expect(`{"type":"next","payload":{"data":{"gate":"through"}},"id":"q"}`, `{"type":"complete","id":"q"}`)
		close(h.Backend.Topic("a"))
		c.Expect(`{"type":"complete","id":"a"}`)
		h.Backend.Topic("b") <- "three"
		c.Expect(`{"type":"next","payload":{"data":{"feed":"three"}},"id":"b"}`)
	})
}

func TestProtocol_CompleteStopsTheOperation(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", servertest.FeedA)
		c.Subscribe("2", `{ gate(name: "g") }`)
		synctest.Wait()
		c.Complete("1")
		c.Complete("2")
		c.Complete("never was")
		c.ExpectAlive()
		synctest.Wait()
		if n := h.Backend.Subscriptions() + h.Backend.Waiting(); n != 0 {
			h.Errorf("%d operations still run", n)
		}
		// The id can be used again at once, and events of the old operation do not reach the new one.
		c.Subscribe("1", servertest.FeedB)
		h.Backend.Topic("b") <- "new"
		c.Expect(`{"type":"next","payload":{"data":{"feed":"new"}},"id":"1"}`)
	})
}

func TestProtocol_ReportsTheEndOfASubscription(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", servertest.FeedA)
		h.Backend.Topic("a") <- retwis.Errorf(retwis.CodeRateLimited, "enough")
		c.Expect(`{"type":"error","payload":[{"message":"enough","extensions":{"code":"RATE_LIMITED"}}],"id":"1"}`)
		c.ExpectAlive()
		c.Subscribe("1", servertest.FeedA)
		h.Backend.Topic("a") <- errors.New("source broke")
		c.Expect(`{"type":"error","payload":[{"message":"source broke"}],"id":"1"}`)
		c.ExpectAlive()
	})
}

func TestProtocol_SlowConsumerCloses(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", servertest.FeedA)
		h.Backend.Topic("a") <- retwis.ErrSlowConsumer
		c.ExpectClose(1013)
	})
}

func TestProtocol_ClientMayDisconnect(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		for _, leave := range []func(*websocket.Conn){
			func(ws *websocket.Conn) {
				_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, "bye"), time.Now().Add(time.Second))
				_, _, err := ws.ReadMessage()
				if !websocket.IsCloseError(err, 1000) {
					h.Errorf("got %v, want the close echoed", err)
				}
			},
			func(ws *websocket.Conn) { ws.Close() },
		} {
			c := h.Ready("")
			c.Subscribe("1", servertest.FeedA)
			c.Subscribe("2", `{ gate(name: "g") }`)
			synctest.Wait()
			leave(c.WS)
			synctest.Wait()
			if n := h.Backend.Subscriptions() + h.Backend.Waiting(); n != 0 {
				h.Errorf("%d operations still run", n)
			}
		}
	})
}
