package loadtest

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

// audience is a number of open subscriptions.
type audience struct {
	recorder *recorder
	sockets  []*websocket.Conn
	wg       sync.WaitGroup

	mu      sync.Mutex
	waiting map[int64]int // post, by the nanosecond when it was due → subscriptions it has yet to come to
	lost    error         // why a subscription ended early
	closing bool
	empty   chan struct{} // gets a value when nothing waits any more
}

// newAudience enters what comes to subscriptions.
func newAudience(r *recorder, sockets []*websocket.Conn) *audience {
	a := &audience{recorder: r, sockets: sockets, waiting: map[int64]int{}, empty: make(chan struct{}, 1)}
	for _, ws := range sockets {
		a.wg.Go(func() { a.read(ws) })
	}
	return a
}

// mark begins the text of a post that says when it was due.
const mark = "Load test, due at "

const eventQuery = `subscription { timelineEvents { __typename cursor ... on PostAdded {
	edge { cursor node { id text createdAt author { id username displayName } } } } } }`

// openSubscriptions opens as many as there are clients, the accounts taking turns.
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
		return nil, setup("subscribe", err)
	}
	return sockets, nil
}

type message struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// dial opens a subscription of an account's home timeline, and returns once it is live.
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
	_ = ws.SetReadDeadline(time.Now().Add(max(o.Timeout, 30*time.Second))) // many begin at once
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

// read enters what comes, until the connection ends.
func (a *audience) read(ws *websocket.Conn) {
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			a.end(err)
			return
		}
		if due, ok := dueOf(string(frame)); ok {
			last, known := a.came(due)
			if known {
				a.recorder.delivery(time.Unix(0, due), last)
			}
			continue
		}
		if strings.Contains(string(frame), `"type":"ping"`) {
			_ = ws.SetWriteDeadline(time.Now().Add(10 * time.Second))
			_ = ws.WriteJSON(message{Type: "pong"}) // an error shows at the next read
		}
	}
}

// dueOf reads when a post was due out of an event.
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

// post makes a post of an author, and waits for it in every subscription.
func (a *audience) post(ctx context.Context, w *world, author account, due time.Time) {
	key := due.UnixNano()
	a.mu.Lock()
	a.waiting[key] = len(a.sockets)
	a.mu.Unlock()
	text := mark + strconv.FormatInt(key, 10) + ", about as long as posts are on the whole."
	err := w.client.do(ctx, author.token, postRequest(text), nil)
	a.recorder.operation("posts", due, err)
	if err != nil {
		a.mu.Lock()
		delete(a.waiting, key)
		a.mu.Unlock()
	}
}

// came notes that a post came to one more subscription, and reports whether it was the last,
// and whether it is one of this run.
func (a *audience) came(due int64) (last, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	left, known := a.waiting[due]
	if !known {
		return false, false
	}
	if left > 1 {
		a.waiting[due] = left - 1
		return false, true
	}
	delete(a.waiting, due)
	if len(a.waiting) == 0 {
		select {
		case a.empty <- struct{}{}:
		default:
		}
	}
	return true, true
}

func (a *audience) end(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closing && a.lost == nil {
		a.lost = err
	}
}

// finish waits for what is on its way, 15 seconds at most, and closes the subscriptions.
func (a *audience) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for a.left() > 0 && ctx.Err() == nil {
		select {
		case <-a.empty:
		case <-ctx.Done():
		}
	}
	a.mu.Lock()
	a.closing = true
	a.mu.Unlock()
	for _, ws := range a.sockets {
		_ = ws.Close()
	}
	a.wg.Wait()
}

func (a *audience) left() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting)
}

// missing says what did not come.
func (a *audience) missing() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	total := 0
	for _, left := range a.waiting {
		total += left
	}
	switch {
	case total == 0:
		return ""
	case a.lost != nil:
		return fmt.Sprintf("%d deliveries did not come; a subscription ended: %v", total, a.lost)
	default:
		return fmt.Sprintf("%d deliveries did not come within 15 s of the last post", total)
	}
}
