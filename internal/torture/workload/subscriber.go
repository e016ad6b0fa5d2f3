package workload

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/torture/history"
	"retwis/internal/torture/validate"
)

const subscription = `subscription($after: Cursor) { timelineEvents(after: $after) { __typename cursor
	... on PostAdded { edge { entryId node { id text } reason { user { username } } } } ... on PostRemoved { entryId } } }`

// subscriber watches a user's home timeline over websockets as the API guide recommends: it resumes after the last
// cursor, and fetches the home again after a reset.
type subscriber struct {
	user *User

	mu     sync.Mutex
	stream history.Stream
	last   time.Time // time of the last event

	reposts map[string]string // those received or read, by the ids of their entries; used by one goroutine
}

func (s *subscriber) add(e history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.At = s.user.recorder.Now()
	s.last = time.Now()
	s.stream.Events = append(s.stream.Events, e)
}

// reset records that the subscriber fetched the home.
func (s *subscriber) reset(texts []string) {
	for _, text := range texts {
		if id := validate.RepostID(text); id != "" {
			s.reposts[id] = text
		}
	}
	s.add(history.Event{Kind: history.Reset, Texts: texts})
}

// run reads events until ctx is done, and reconnects whenever a connection ends.
func (s *subscriber) run(ctx context.Context) error {
	s.stream.Client, s.reposts = s.user.Name, map[string]string{}
	texts, cursor, err := s.user.home(ctx)
	if err != nil {
		return err
	}
	s.reset(texts)
	for ctx.Err() == nil {
		s.connection(ctx, &cursor)
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rand.IntN(200)) * time.Millisecond):
		}
	}
	return nil
}

// connection serves one connection until it ends. Faults end connections, so an error needs no report.
func (s *subscriber) connection(ctx context.Context, cursor *string) {
	url := strings.Replace(s.user.api.endpoint(rand.Uint64()), "http", "ws", 1) + "/graphql"
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: callTime}
	conn, response, err := dialer.DialContext(ctx, url, http.Header{})
	if response != nil {
		_ = response.Body.Close()
	}
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		stop()
		_ = conn.Close()
	}()
	init := map[string]any{"type": "connection_init", "payload": map[string]string{"authorization": "Bearer " + s.user.token}}
	if conn.WriteJSON(init) != nil {
		return
	}
	for {
		// The service pings idle connections, so a silent one is dead.
		_ = conn.SetReadDeadline(time.Now().Add(40 * time.Second))
		_, raw, err := conn.ReadMessage()
		if err != nil {
			return
		}
		var message struct {
			Type    string
			Payload json.RawMessage
		}
		if json.Unmarshal(raw, &message) != nil {
			return
		}
		switch message.Type {
		case "connection_ack":
			s.add(history.Event{Kind: history.Connected})
			subscribe := map[string]any{"type": "subscribe", "id": "1", "payload": map[string]any{
				"query": subscription, "variables": map[string]any{"after": *cursor},
			}}
			if conn.WriteJSON(subscribe) != nil {
				return
			}
		case "ping":
			if conn.WriteJSON(map[string]string{"type": "pong"}) != nil {
				return
			}
		case "next":
			if s.event(ctx, message.Payload, cursor) != nil {
				return
			}
		case "error", "complete":
			return
		}
	}
}

// event records an event and its cursor.
func (s *subscriber) event(ctx context.Context, payload json.RawMessage, cursor *string) error {
	var next struct {
		Data struct {
			TimelineEvents *struct {
				Typename string `json:"__typename"`
				Cursor   string
				Edge     entry
				EntryID  string
			}
		}
		Errors []json.RawMessage // an event with errors is incomplete
	}
	if err := json.Unmarshal(payload, &next); err != nil {
		return err
	}
	e := next.Data.TimelineEvents
	if e == nil || len(next.Errors) > 0 {
		return fmt.Errorf("the event failed: %.200s", payload)
	}
	switch e.Typename {
	case "PostAdded":
		s.user.posts.add(post{e.Edge.Node.ID, e.Edge.Node.Text})
		if e.Edge.Reason != nil {
			s.reposts[e.Edge.EntryID] = e.Edge.text()
		}
		s.add(history.Event{Kind: history.Added, ID: e.Edge.EntryID, Text: e.Edge.text()})
	case "PostRemoved":
		s.add(history.Event{Kind: history.Removed, ID: e.EntryID, Text: cmp.Or(s.reposts[e.EntryID], s.user.posts.text(e.EntryID))})
	case "TimelineCaughtUp":
		s.add(history.Event{Kind: history.CaughtUp})
	case "TimelineReset":
		texts, fresh, err := s.user.home(ctx)
		if err != nil {
			return err
		}
		s.reset(texts)
		*cursor = fresh
		return fmt.Errorf("resubscribe at the page")
	}
	*cursor = e.Cursor
	return nil
}

// snapshot returns the events received so far.
func (s *subscriber) snapshot() history.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return history.Stream{Client: s.stream.Client, Events: append([]history.Event(nil), s.stream.Events...)}
}

// has reports whether the subscriber knows all of these texts, from the last page that it read and the events after that.
func (s *subscriber) has(texts []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[string]bool{}
	for _, e := range s.stream.Events {
		switch e.Kind {
		case history.Reset:
			clear(known)
			for _, text := range e.Texts {
				known[text] = true
			}
		case history.Added:
			known[e.Text] = true
		}
	}
	return !slices.ContainsFunc(texts, func(text string) bool { return !known[text] })
}

// quiet reports whether no event arrived for a while.
func (s *subscriber) quiet(length time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.last) > length
}
