package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/auth"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

func TestMain(m *testing.M) { redistest.VerifyNoLeaks(m) }

// harness is a server that listens, in a bubble on pipes, elsewhere on TCP.
type harness struct {
	*testing.T
	server   *Server
	backend  *backend
	accounts *accounts
	log      *logBuffer
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	url      string
	client   *http.Client
	stop     func() // and wait until Serve has returned
}

// inBubble runs a test with a clock of its own. The bubble ends only when every
// goroutine has: it finds leaks by itself.
func inBubble(t *testing.T, change func(*Options), test func(*harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		test(newHarness(t, change, l, l.dial, "http://retwis.test"))
	})
}

// onTCP is for what a pipe does not have: buffers, and resets. On a busy machine clients
// take their time to say who they are.
func onTCP(t *testing.T, change func(*Options), test func(*harness)) {
	t.Helper()
	patient := func(o *Options) {
		o.InitTimeout = time.Minute
		if change != nil {
			change(o)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	test(newHarness(t, patient, listener, dialer.DialContext, "http://"+listener.Addr().String()))
}

func newHarness(t *testing.T, change func(*Options), l net.Listener, dial func(context.Context, string, string) (net.Conn, error), url string) *harness {
	t.Helper()
	h := &harness{
		T:        t,
		backend:  newBackend(),
		accounts: &accounts{sessions: map[string]auth.Identity{}},
		log:      &logBuffer{},
		dial:     dial,
		url:      url,
	}
	opts := Options{
		Executor: h.backend.executor(),
		Accounts: h.accounts,
		Log:      slog.New(LogHandler(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	}
	if change != nil {
		change(&opts)
	}
	server, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	h.server = server
	transport := &http.Transport{DialContext: dial}
	h.client = &http.Client{Transport: transport}

	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		transport.CloseIdleConnections()
	})
	t.Cleanup(h.stop)
	return h
}

// login opens a session and returns its token.
func (h *harness) login(user retwis.UserID) string {
	return h.accounts.add(user)
}

// answer is what came back of an HTTP request, besides the body.
type answer struct {
	StatusCode int
	Header     http.Header
}

// do sends an HTTP request to /graphql. A header is "Name: value".
func (h *harness) do(method, query, body string, headers ...string) (answer, string) {
	h.Helper()
	target := h.url + "/graphql"
	if query != "" {
		target += "?" + query
	}
	return h.request(method, target, body, headers...)
}

func (h *harness) request(method, target, body string, headers ...string) (answer, string) {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, target, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Add(name, value)
	}
	w, err := h.client.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		h.Fatal(err)
	}
	return answer{w.StatusCode, w.Header}, string(text)
}

// pipes is a listener without a network, so that a bubble can tell when all is quiet.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, errors.New("nobody listens")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// accounts knows sessions, and can be told to be slow or broken.
type accounts struct {
	mu       sync.Mutex
	sessions map[string]auth.Identity
	calls    int
	broken   error
	during   func() // runs after the session was read, before the answer
}

func (a *accounts) add(user retwis.UserID) string { return a.addOf(user, 0) }

// addOf opens a session of a generation.
func (a *accounts) addOf(user retwis.UserID, generation int64) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	token := "token-" + newID()
	a.sessions[token] = auth.Identity{User: user, Session: retwis.SessionKey{Bucket: user.Bucket(), Hash: "hash of " + token}, Generation: generation}
	return token
}

// end forgets a session and returns its end, which nobody has been told of yet.
func (a *accounts) end(token string) retwis.SessionEnd {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := a.sessions[token]
	delete(a.sessions, token)
	return retwis.SessionEnd{Session: who.Session}
}

func (a *accounts) set(broken error, during func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken, a.during = broken, during
}

func (a *accounts) asked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.calls
}

func (a *accounts) Authenticate(_ context.Context, token string) (auth.Identity, error) {
	a.mu.Lock()
	a.calls++
	who, ok := a.sessions[token]
	err, during := a.broken, a.during
	a.during = nil
	a.mu.Unlock()
	if during != nil {
		during()
	}
	switch {
	case err != nil:
		return auth.Identity{}, err
	case !ok:
		return auth.Identity{}, retwis.ErrUnauthenticated
	}
	return who, nil
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// wsClient is the client's end of a websocket.
type wsClient struct {
	t  *testing.T
	ws *websocket.Conn
}

// upgrade opens a websocket, or returns with what status it was refused. A header is
// "Name: value".
func (h *harness) upgrade(headers ...string) (ws *websocket.Conn, status int, err error) {
	header := http.Header{"Sec-Websocket-Protocol": {subprotocol}}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		header.Del(name)
		if value != "" {
			header.Set(name, value)
		}
	}
	dialer := websocket.Dialer{NetDialContext: h.dial}
	ws, w, err := dialer.DialContext(h.Context(), "ws"+strings.TrimPrefix(h.url, "http")+"/graphql", header)
	if w != nil {
		status = w.StatusCode
		w.Body.Close()
	}
	return ws, status, err
}

func (h *harness) socket(headers ...string) *wsClient {
	h.Helper()
	ws, _, err := h.upgrade(headers...)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { ws.Close() })
	return &wsClient{h.T, ws}
}

// ready opens a websocket and a connection on it; without a token as nobody.
func (h *harness) ready(token string) *wsClient {
	h.Helper()
	c := h.socket()
	if token == "" {
		c.send(`{"type":"connection_init"}`)
	} else {
		c.send(`{"type":"connection_init","payload":{"authorization":"Bearer ` + token + `"}}`)
	}
	c.expect(`{"type":"connection_ack"}`)
	return c
}

func (c *wsClient) send(text string) {
	c.t.Helper()
	if err := c.ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *wsClient) subscribe(id, query string) {
	c.t.Helper()
	c.send(`{"type":"subscribe","id":"` + id + `","payload":{"query":"` + strings.ReplaceAll(query, `"`, `\"`) + `"}}`)
}

func (c *wsClient) complete(id string) {
	c.t.Helper()
	c.send(`{"type":"complete","id":"` + id + `"}`)
}

func (c *wsClient) read() string {
	c.t.Helper()
	_, text, err := c.ws.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

func (c *wsClient) expect(want ...string) {
	c.t.Helper()
	for _, w := range want {
		if got := c.read(); got != w {
			c.t.Fatalf("got message\n%s, want\n%s", got, w)
		}
	}
}

// expectClose reads until the server closes, and skips what it said before.
func (c *wsClient) expectClose(code int) string {
	c.t.Helper()
	for {
		_, _, err := c.ws.ReadMessage()
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

// alive fails the test unless the connection still answers.
func (c *wsClient) alive() {
	c.t.Helper()
	c.send(`{"type":"ping"}`)
	c.expect(`{"type":"pong"}`)
}
