package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// stream is a subscription on its own websocket.
type stream struct {
	t  *testing.T
	ws *websocket.Conn
}

// dial opens a websocket. If the server refuses it, it returns nil and the status. A header is "Name: value".
func (c *client) dial(headers ...string) (ws *websocket.Conn, status int) {
	c.t.Helper()
	ws, status, _ = c.handshake(headers...)
	return ws, status
}

// handshake is dial that also returns the header of the response.
func (c *client) handshake(headers ...string) (ws *websocket.Conn, status int, answered http.Header) {
	c.t.Helper()
	header := http.Header{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		header.Set(name, value)
	}
	dialer := websocket.Dialer{
		Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: patience,
		EnableCompression: true, // like a browser
	}
	ws, response, err := dialer.DialContext(c.t.Context(), "ws"+strings.TrimPrefix(c.url, "http")+"/graphql", header)
	if response == nil {
		c.t.Fatal(err)
	}
	response.Body.Close()
	return ws, response.StatusCode, response.Header
}

// open opens a websocket and logs in to it.
func (c *client) open() *stream {
	c.t.Helper()
	ws, status := c.dial()
	if ws == nil {
		c.t.Fatalf("no websocket: status %d", status)
	}
	s := &stream{c.t, ws}
	c.t.Cleanup(s.close)
	s.send(map[string]any{"type": "connection_init", "payload": map[string]any{"authorization": "Bearer " + c.token}})
	if m := s.read(); m.Type != "connection_ack" {
		c.t.Fatalf("got %+v, want connection_ack", m)
	}
	return s
}

// watch subscribes to the home timeline, from a cursor or from now on.
func (c *client) watch(after string) *stream {
	c.t.Helper()
	s := c.open()
	variables := map[string]any{}
	if after != "" {
		variables["after"] = after
	}
	s.send(map[string]any{"type": "subscribe", "id": "1", "payload": map[string]any{
		"variables": variables,
		"query": `subscription ($after: Cursor) { timelineEvents(after: $after) { __typename cursor
			... on PostAdded { edge { cursor node { id text } } }
			... on PostRemoved { postId }
			... on TimelineCaughtUp { replayed }
			... on TimelineReset { reason } } }`,
	}})
	return s
}

// watchNow subscribes and waits until the subscription is live.
func (c *client) watchNow() *stream {
	c.t.Helper()
	s := c.watch("")
	s.expect("TimelineCaughtUp")
	return s
}

func (s *stream) close() { _ = s.ws.Close() }

func (s *stream) send(message any) {
	s.t.Helper()
	if err := s.ws.WriteJSON(message); err != nil {
		s.t.Fatal(err)
	}
}

type message struct {
	Type    string
	ID      string
	Payload json.RawMessage
}

func (s *stream) read() message {
	s.t.Helper()
	_ = s.ws.SetReadDeadline(time.Now().Add(patience))
	var m message
	if err := s.ws.ReadJSON(&m); err != nil {
		s.t.Fatal(err)
	}
	return m
}

// expect reads the next event, which must be of a type.
func (s *stream) expect(typename string) event {
	s.t.Helper()
	e := s.event()
	if e.Typename != typename {
		s.t.Fatalf("got %+v, want %s", e, typename)
	}
	return e
}

// awaitReset reads events until one that resets the timeline.
func (s *stream) awaitReset() {
	s.t.Helper()
	for s.event().Typename != "TimelineReset" {
	}
}

// event reads the next event.
func (s *stream) event() event {
	s.t.Helper()
	m := s.read()
	var a answer
	if m.Type != "next" || json.Unmarshal(m.Payload, &a) != nil || len(a.Errors) > 0 {
		s.t.Fatalf("got %s %s, want an event", m.Type, m.Payload)
	}
	return a.Data.TimelineEvents
}

// expectPost reads the next event, which must be a new post with a text.
func (s *stream) expectPost(text string) event {
	s.t.Helper()
	e := s.expect("PostAdded")
	if e.Edge.Node.Text != text {
		s.t.Fatalf("got the post %q, want %q", e.Edge.Node.Text, text)
	}
	return e
}

// expectClose reads until the server closes the websocket, and checks the close code.
func (s *stream) expectClose(code int) {
	s.t.Helper()
	_ = s.ws.SetReadDeadline(time.Now().Add(patience))
	for {
		_, _, err := s.ws.ReadMessage()
		if err == nil {
			continue
		}
		closed, ok := errors.AsType[*websocket.CloseError](err)
		if !ok || closed.Code != code {
			s.t.Fatalf("got %v, want close code %d", err, code)
		}
		return
	}
}

// watchTimeline subscribes to a timeline, and waits until the subscription is live.
func (c *client) watchTimeline(id string) *stream {
	c.t.Helper()
	s := c.open()
	s.send(map[string]any{"type": "subscribe", "id": "1", "payload": map[string]any{
		"query": `subscription ($id: ID!) { timelineEvents(timelineId: $id) { __typename cursor } }`, "variables": map[string]any{"id": id},
	}})
	s.expect("TimelineCaughtUp")
	return s
}

// expectGone reads the error of a subscription whose timeline was deleted.
func (s *stream) expectGone() {
	s.t.Helper()
	m := s.read()
	if m.Type != "error" || !strings.Contains(string(m.Payload), `"code":"NOT_FOUND"`) || !strings.Contains(string(m.Payload), "was deleted") {
		s.t.Errorf("got %s %s", m.Type, m.Payload)
	}
}
