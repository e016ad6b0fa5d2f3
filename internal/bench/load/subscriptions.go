package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// subscribers is a number of open subscriptions.
type subscribers struct {
	recorder *recorder
	sockets  []*websocket.Conn
	wg       sync.WaitGroup

	mu      sync.Mutex
	waiting map[int64]int // posts, by the nanosecond when they were due → subscriptions they have yet to reach
	lost    error         // why a subscription ended during the test
	closing bool
	empty   chan struct{} // receives a value when no delivery is pending
}

// newSubscribers records what arrives at subscriptions.
func newSubscribers(r *recorder, sockets []*websocket.Conn) *subscribers {
	s := &subscribers{recorder: r, sockets: sockets, waiting: map[int64]int{}, empty: make(chan struct{}, 1)}
	for _, ws := range sockets {
		s.wg.Go(func() { s.read(ws) })
	}
	return s
}

// mark begins the text of a post that contains the time when it was due.
const mark = "Load test, due at "

const eventQuery = `subscription { timelineEvents { __typename cursor ... on PostAdded {
	edge { cursor node { id text createdAt author { id username displayName } } } } } }`

// openSubscriptions opens a subscription for each client. The accounts take turns.
func openSubscriptions(ctx context.Context, o Options, accounts []account) ([]*websocket.Conn, error) {
	sockets := make([]*websocket.Conn, o.Clients)
	err := o.inParallel(ctx, "subscriptions", o.Clients, func(ctx context.Context, i int) (err error) {
		sockets[i], err = dial(ctx, o, accounts[i%len(accounts)])
		return err
	})
	if err != nil {
		for _, ws := range sockets {
			if ws != nil {
				_ = ws.Close()
			}
		}
		return nil, setupError("subscribe", err)
	}
	return sockets, nil
}

type message struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// dial subscribes to the home timeline of an account, and returns when the subscription is live.
func dial(ctx context.Context, o Options, as account) (*websocket.Conn, error) {
	dialer := websocket.Dialer{
		Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: o.Timeout, ReadBufferSize: 2048, WriteBufferSize: 1024,
	}
	endpoint := "ws" + strings.TrimPrefix(strings.TrimSuffix(o.URL, "/"), "http") + "/graphql"
	ws, response, err := dialer.DialContext(ctx, endpoint, nil)
	if response != nil {
		_ = response.Body.Close()
		if response.StatusCode == http.StatusTooManyRequests {
			return nil, errLimited
		}
	}
	if err != nil {
		return nil, err
	}
	if err := subscribe(ws, o, as); err != nil {
		_ = ws.Close()
		return nil, err
	}
	return ws, nil
}

func subscribe(ws *websocket.Conn, o Options, as account) error {
	_ = ws.SetWriteDeadline(time.Now().Add(o.Timeout))
	_ = ws.SetReadDeadline(time.Now().Add(max(o.Timeout, 30*time.Second))) // many subscribe at once
	query, err := json.Marshal(map[string]string{"query": eventQuery})
	if err != nil {
		return err
	}
	token, err := json.Marshal(map[string]string{"authorization": "Bearer " + as.token})
	if err != nil {
		return err
	}
	if err := ws.WriteJSON(message{Type: "connection_init", Payload: token}); err != nil {
		return err
	}
	for {
		var m message
		err := ws.ReadJSON(&m)
		if closed, ok := errors.AsType[*websocket.CloseError](err); ok && strings.Contains(closed.Text, "too many connections") {
			return errLimited
		}
		if err != nil {
			return err
		}
		switch {
		case m.Type == "connection_ack":
			if err := ws.WriteJSON(message{Type: "subscribe", ID: "1", Payload: query}); err != nil {
				return err
			}
		case m.Type == "next" && strings.Contains(string(m.Payload), "TimelineCaughtUp"):
			return ws.SetReadDeadline(time.Time{})
		case m.Type == "error" && strings.Contains(string(m.Payload), "RATE_LIMITED"):
			return errLimited
		case m.Type == "error":
			return &failure{kind: "subscription refused", text: string(m.Payload)}
		}
	}
}

// read records the events of a subscription until its connection ends.
func (s *subscribers) read(ws *websocket.Conn) {
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			s.end(err)
			return
		}
		if due, ok := dueOf(string(frame)); ok {
			if last, known := s.arrived(due); known {
				s.recorder.delivery(time.Unix(0, due), last)
			}
			continue
		}
		if strings.Contains(string(frame), `"type":"ping"`) {
			_ = ws.SetWriteDeadline(time.Now().Add(10 * time.Second))
			_ = ws.WriteJSON(message{Type: "pong"}) // an error shows at the next read
		}
	}
}

// dueOf extracts from an event when its post was due.
func dueOf(frame string) (int64, bool) {
	_, rest, found := strings.Cut(frame, mark)
	if !found {
		return 0, false
	}
	end := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		return 0, false
	}
	due, err := strconv.ParseInt(rest[:end], 10, 64)
	return due, err == nil
}

// post creates a post, which is then expected at every subscription.
func (s *subscribers) post(ctx context.Context, c *Client, author account, due time.Time) {
	key := due.UnixNano()
	s.mu.Lock()
	s.waiting[key] = len(s.sockets)
	s.mu.Unlock()
	text := mark + strconv.FormatInt(key, 10) + ", of about the usual length."
	err := c.Do(ctx, author.token, postRequest(text), nil)
	s.recorder.operation("posts", due, err)
	if err != nil {
		s.mu.Lock()
		delete(s.waiting, key)
		s.mu.Unlock()
	}
}

// arrived counts the arrival of a post at one more subscription. It reports whether that was the last
// one, and whether the post is one of this test.
func (s *subscribers) arrived(due int64) (last, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, known := s.waiting[due]
	if !known {
		return false, false
	}
	if left > 1 {
		s.waiting[due] = left - 1
		return false, true
	}
	delete(s.waiting, due)
	if len(s.waiting) == 0 {
		select {
		case s.empty <- struct{}{}:
		default:
		}
	}
	return true, true
}

func (s *subscribers) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing && s.lost == nil {
		s.lost = err
	}
}

// finish waits for the pending deliveries, at most 15 seconds, and closes the subscriptions.
func (s *subscribers) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for s.pending() > 0 && ctx.Err() == nil {
		select {
		case <-s.empty:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	for _, ws := range s.sockets {
		_ = ws.Close()
	}
	s.wg.Wait()
}

func (s *subscribers) pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// missing describes the deliveries that did not arrive.
func (s *subscribers) missing() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, left := range s.waiting {
		total += left
	}
	switch {
	case total == 0:
		return ""
	case s.lost != nil:
		return fmt.Sprintf("%d deliveries did not arrive, and a subscription ended: %v", total, s.lost)
	default:
		return fmt.Sprintf("%d deliveries did not arrive within 15 s of the last post", total)
	}
}
