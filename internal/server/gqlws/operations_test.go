package gqlws_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/retwis"
	"retwis/internal/server/servertest"
)

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
		for i, query := range []string{`{ panics }`, `subscription { timeline(name: "news") { text } } # panics when it starts`} {
			c.Subscribe(strconv.Itoa(i), query)
			got := c.Read()
			if !strings.HasPrefix(got, `{"type":"error","payload":[{"message":"internal error","extensions":{"code":"INTERNAL_SERVER_ERROR","id":`) ||
				strings.Contains(got, "cheese") {
				h.Errorf("got %s", got)
			}
			if strings.Count(h.Logs.String(), "out of cheese") != i+1 {
				h.Error("the log lacks the cause")
			}
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
