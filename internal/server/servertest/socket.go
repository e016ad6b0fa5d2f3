package servertest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// Subprotocol is the name of the websocket protocol.
const Subprotocol = "graphql-transport-ws"

// Socket is the client's end of a websocket.
type Socket struct {
	t  *testing.T
	WS *websocket.Conn
}

// Upgrade opens a websocket, or returns the status of the refusal. A header is "Name:
// value"; an empty value removes the header.
func (h *Harness) Upgrade(headers ...string) (ws *websocket.Conn, status int, err error) {
	header := http.Header{"Sec-Websocket-Protocol": {Subprotocol}}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		header.Del(name)
		if value != "" {
			header.Set(name, value)
		}
	}
	dialer := websocket.Dialer{NetDialContext: h.Dial}
	ws, w, err := dialer.DialContext(h.Context(), "ws"+strings.TrimPrefix(h.URL, "http")+"/graphql", header)
	if w != nil {
		status = w.StatusCode
		_ = w.Body.Close()
	}
	return ws, status, err
}

// Socket opens a websocket.
func (h *Harness) Socket(headers ...string) *Socket {
	h.Helper()
	ws, status, err := h.Upgrade(headers...)
	if err != nil {
		h.Fatalf("the upgrade to a websocket got %d: %v", status, err)
	}
	h.Cleanup(func() { _ = ws.Close() })
	return &Socket{h.T, ws}
}

// SocketWith opens a websocket with a dialer.
func (h *Harness) SocketWith(dialer websocket.Dialer) *Socket {
	h.Helper()
	ws, w, err := dialer.DialContext(h.Context(), "ws"+strings.TrimPrefix(h.URL, "http")+"/graphql", nil)
	if err != nil {
		h.Fatal(err)
	}
	_ = w.Body.Close()
	h.Cleanup(func() { _ = ws.Close() })
	return &Socket{h.T, ws}
}

// Ready opens a websocket and initialises it; without a token it is anonymous.
func (h *Harness) Ready(token string) *Socket {
	h.Helper()
	c := h.Socket()
	if token == "" {
		c.Send(`{"type":"connection_init"}`)
	} else {
		c.Send(`{"type":"connection_init","payload":{"authorization":"Bearer ` + token + `"}}`)
	}
	c.Expect(`{"type":"connection_ack"}`)
	return c
}

// SocketOn upgrades a connection of the test.
func (h *Harness) SocketOn(conn net.Conn) *Socket {
	h.Helper()
	return h.SocketWith(websocket.Dialer{
		NetDial:      func(string, string) (net.Conn, error) { return conn, nil },
		Subprotocols: []string{Subprotocol},
	})
}

// Send sends a text message.
func (c *Socket) Send(text string) {
	c.t.Helper()
	if err := c.WS.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// Subscribe starts an operation.
func (c *Socket) Subscribe(id, query string) {
	c.t.Helper()
	c.Send(SubscribeMessage(id, query))
}

// SubscribeMessage returns the message that starts an operation.
func SubscribeMessage(id, query string) string {
	return `{"type":"subscribe","id":"` + id + `","payload":{"query":"` + strings.ReplaceAll(query, `"`, `\"`) + `"}}`
}

// Complete ends an operation.
func (c *Socket) Complete(id string) {
	c.t.Helper()
	c.Send(`{"type":"complete","id":"` + id + `"}`)
}

// Read returns the next message.
func (c *Socket) Read() string {
	c.t.Helper()
	_, text, err := c.WS.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// Expect compares the next messages.
func (c *Socket) Expect(want ...string) {
	c.t.Helper()
	for _, w := range want {
		if got := c.Read(); got != w {
			c.t.Fatalf("got message\n%s, want\n%s", got, w)
		}
	}
}

// ExpectClose skips messages until the server closes the connection with a code. It returns
// the reason.
func (c *Socket) ExpectClose(code int) string {
	c.t.Helper()
	for {
		_, _, err := c.WS.ReadMessage()
		if err == nil {
			continue
		}
		closed, ok := errors.AsType[*websocket.CloseError](err)
		if !ok || closed.Code != code {
			c.t.Fatalf("got %v, want close code %d", err, code)
		}
		return closed.Text
	}
}

// ExpectAlive fails the test unless the connection still responds.
func (c *Socket) ExpectAlive() {
	c.t.Helper()
	c.Send(`{"type":"ping"}`)
	c.Expect(`{"type":"pong"}`)
}

// Next returns the "next" message of an event of the subscription timeline.
func Next(id, text, cursor, viewer string) string {
	return fmt.Sprintf(`{"type":"next","payload":{"data":{"cursor":%q,"text":%q,"again":%q,"viewer":%q}},"id":%q}`,
		cursor, text, cursor, viewer, id)
}
