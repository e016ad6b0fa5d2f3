// Package servertest runs a server for the tests of its packages: with clients, accounts,
// and a backend that can be slow or broken.
package servertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/auth"
	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/requestid"
)

// JSON is the content type of a request.
const JSON = "Content-Type: application/json"

// Harness runs a server on in-memory pipes in a synctest bubble, and elsewhere on TCP.
type Harness struct {
	*testing.T
	Server   *server.Server
	Backend  *Backend
	Accounts *Accounts
	Logs     *Logs
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	URL      string
	HTTP     *http.Client
	Stop     func() // and wait until Serve has returned

	pipes *pipes // nil with TCP
}

// InBubble runs a test with a clock of its own. The bubble ends only when every goroutine
// has ended, so it finds leaks.
func InBubble(t *testing.T, change func(*server.Options), test func(*Harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		test(newHarness(t, change, l, l.dial, "http://retwis.test"))
	})
}

// OnTCP runs a test over TCP, which has buffers and connection resets. On a busy machine
// clients need time to authenticate.
func OnTCP(t *testing.T, change func(*server.Options), test func(*Harness)) {
	t.Helper()
	patient := func(o *server.Options) {
		o.InitTimeout = time.Minute
		if change != nil {
			change(o)
		}
	}
	listener, err := server.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	test(newHarness(t, patient, listener, dialer.DialContext, "http://"+listener.Addr().String()))
}

// OnBoth runs a test on pipes, where a writer goroutine writes, and on sockets, where the
// sender of a frame writes it.
func OnBoth(t *testing.T, test func(*Harness)) {
	t.Helper()
	t.Run("pipes", func(t *testing.T) { InBubble(t, nil, test) })
	for _, compressed := range []bool{false, true} {
		t.Run(fmt.Sprint("sockets, compressed ", compressed), func(t *testing.T) {
			OnTCP(t, func(o *server.Options) { o.Compression, o.DrainTime = compressed, time.Millisecond }, test)
		})
	}
}

func newHarness(
	t *testing.T, change func(*server.Options), l net.Listener,
	dial func(context.Context, string, string) (net.Conn, error), url string,
) *Harness {
	t.Helper()
	h := &Harness{
		T:        t,
		Backend:  NewBackend(),
		Accounts: &Accounts{sessions: map[string]auth.Identity{}, presumed: map[string]auth.Identity{}},
		Logs:     &Logs{},
		Dial:     dial,
		URL:      url,
	}
	opts := server.Options{
		Executor: h.Backend.Executor(),
		Accounts: h.Accounts,
		Log:      slog.New(requestid.LogHandler(slog.NewTextHandler(h.Logs, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	}
	if change != nil {
		change(&opts)
	}
	h.pipes, _ = l.(*pipes)
	s, err := server.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
	transport := &http.Transport{DialContext: dial}
	h.HTTP = &http.Client{Transport: transport}

	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	h.Stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		transport.CloseIdleConnections()
	})
	t.Cleanup(h.Stop)
	return h
}

// Login opens a session and returns its token.
func (h *Harness) Login(user retwis.UserID) string { return h.Accounts.Open(user, 0) }

// Response is an HTTP response, except for its body.
type Response struct {
	StatusCode int
	Header     http.Header
}

// Do sends an HTTP request to /graphql and returns the response with its body. A header is
// "Name: value".
func (h *Harness) Do(method, query, body string, headers ...string) (Response, string) {
	h.Helper()
	target := h.URL + "/graphql"
	if query != "" {
		target += "?" + query
	}
	return h.Request(method, target, body, headers...)
}

// Request sends an HTTP request to a URL.
func (h *Harness) Request(method, target, body string, headers ...string) (Response, string) {
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
	w, err := h.HTTP.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		h.Fatal(err)
	}
	return Response{w.StatusCode, w.Header}, string(text)
}

// Connect opens a connection on which the test writes everything.
func (h *Harness) Connect() net.Conn {
	h.Helper()
	c, err := h.Dial(h.Context(), "tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = c.Close() })
	return c
}

// ConnectFrom opens a pipe, of which the server sees a client's address. It needs a bubble.
func (h *Harness) ConnectFrom(address string) net.Conn {
	h.Helper()
	ours, theirs := net.Pipe()
	h.Cleanup(func() { _ = ours.Close() })
	h.pipes.conns <- addressed{theirs, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(address), 1024))}
	return ours
}

// addressed is a pipe whose other end has an address.
type addressed struct {
	net.Conn
	remote net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.remote }

// Within waits for a condition, a minute at most, and calls otherwise if it does not hold.
func Within(t *testing.T, holds func() bool, otherwise func()) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			otherwise()
			return
		}
	}
}

// pipes is a listener without a network, so that a bubble can tell when everything waits.
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

// Logs are what a server logged.
type Logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements [io.Writer].
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// rootName returns the name of the root type of an operation.
func rootName(operation ast.Operation) string {
	return strings.ToUpper(string(operation[:1])) + string(operation[1:])
}
