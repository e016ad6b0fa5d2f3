package redistest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// maxRequest bounds what the proxy keeps of a request to decide on its reply.
const maxRequest = 64 << 10

// FaultProxy forwards connections to a server, until it is told to fail.
type FaultProxy struct {
	t               testing.TB
	listener        net.Listener
	network, target string
	work            sync.WaitGroup

	mu     sync.Mutex
	pairs  map[*pair]struct{}
	closed bool
	refuse bool
	delay  time.Duration
	drop   func(request []byte) bool
	open   chan struct{} // closed while bytes may pass
	cuts   int
	kept   int // chunks that were kept from deaf connections
}

// pair is one forwarded connection.
type pair struct {
	client, server net.Conn
	done           chan struct{} // closed when it was cut
	cut            sync.Once

	mu      sync.Mutex
	request []byte // what the client has sent since the server last replied
	deaf    bool   // nothing but replies may pass
}

// Proxy starts a proxy on a port of 127.0.0.1 in front of the server at the
// address. It ends with the test.
func Proxy(t testing.TB, targetNetwork, targetAddr string) *FaultProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen for the proxy: %v", err)
	}
	p := &FaultProxy{
		t: t, listener: listener, network: targetNetwork, target: targetAddr,
		pairs: map[*pair]struct{}{}, open: make(chan struct{}),
	}
	close(p.open)
	p.work.Go(p.accept)
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		_ = listener.Close()
		p.CutAll()
		p.work.Wait()
	})
	return p
}

// Addr returns the address to connect to, on the network tcp.
func (p *FaultProxy) Addr() string { return p.listener.Addr().String() }

// URL returns the address in the form that redis.ParseURL reads.
func (p *FaultProxy) URL() string { return "redis://" + p.Addr() + "/0" }

// CutAll resets every connection that is open now.
func (p *FaultProxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.close(reset)
	}
}

// Refuse resets, while it is on, every new connection.
func (p *FaultProxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = on
}

// Delay holds every reply back for a while. 0 ends it.
func (p *FaultProxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// BlackHole lets, while it is on, nothing through in either direction, as a
// network that is cut in two. What was sent meanwhile arrives late, as TCP would
// have it: cut the connections before it is turned off to lose it.
func (p *FaultProxy) BlackHole(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		if on {
			p.open = make(chan struct{})
		}
	default:
		if !on {
			close(p.open)
		}
	}
}

// Deafen keeps, on the connections that are open now, everything from the client that it
// did not ask for, as a middlebox does that has forgotten a subscription: replies pass,
// so a ping finds nothing wrong.
func (p *FaultProxy) Deafen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.mu.Lock()
		c.deaf = true
		c.mu.Unlock()
	}
}

// Kept returns how often something was kept from a client by [FaultProxy.Deafen].
func (p *FaultProxy) Kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept
}

// DropReplies makes the next n requests be carried out without a reply: the
// connection is reset when the reply comes. The handshake of a new connection is
// spared.
func (p *FaultProxy) DropReplies(n int) {
	p.DropRepliesIf(func(request []byte) bool {
		if n == 0 || Handshake(request) {
			return false
		}
		n--
		return true
	})
}

// DropRepliesIf drops the replies to those requests that lost picks; nil ends it.
// A request is what the client sent since the server's last reply, a whole
// pipeline maybe, of which the last 64 KiB count. Calls of lost do not overlap,
// and must not call the proxy.
func (p *FaultProxy) DropRepliesIf(lost func(request []byte) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop = lost
}

// Dropped returns how many replies were dropped so far.
func (p *FaultProxy) Dropped() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Handshake reports whether a request is what a client sends when it connects.
func Handshake(request []byte) bool {
	_, rest, _ := bytes.Cut(request, []byte("\r\n$"))
	_, name, _ := bytes.Cut(rest, []byte("\r\n"))
	name, _, _ = bytes.Cut(name, []byte("\r\n"))
	switch string(bytes.ToLower(name)) {
	case "hello", "client", "auth", "select", "readonly":
		return true
	default:
		return false
	}
}

func (p *FaultProxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			p.t.Errorf("proxy: accept: %v", err)
			return
		}
		p.work.Go(func() { p.forward(client) })
	}
}

func (p *FaultProxy) forward(client net.Conn) {
	c := &pair{client: client, done: make(chan struct{})}
	if p.refused() {
		c.close(reset)
		return
	}
	server, err := net.DialTimeout(p.network, p.target, patience)
	if err != nil {
		c.close(reset) // the server is down
		return
	}
	c.server = server
	if !p.add(c) {
		c.close(reset)
		return
	}
	defer p.remove(c)

	p.work.Go(func() {
		c.close(p.pump(c.server, c.client, c, func(b []byte) verdict { c.sent(b); return pass }))
	})
	c.close(p.pump(c.client, c.server, c, func([]byte) verdict { return p.deliver(c) }))
}

// ending is how a connection is closed.
type ending bool

const (
	orderly ending = false
	reset   ending = true // neither side can take it for an orderly end
)

// verdict says what becomes of bytes on their way.
type verdict int

const (
	pass verdict = iota
	swallow
	breakOff // the connection is reset
)

// pump copies until either side ends, or the judge breaks the connection off.
func (p *FaultProxy) pump(to, from net.Conn, c *pair, judge func([]byte) verdict) ending {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !p.wait(c) {
				return reset
			}
			switch judge(buf[:n]) {
			case pass:
				if _, err := to.Write(buf[:n]); err != nil {
					return reset
				}
			case swallow:
			case breakOff:
				return reset
			}
		}
		if errors.Is(err, io.EOF) {
			return orderly
		}
		if err != nil {
			return reset
		}
	}
}

// wait returns when bytes may pass, or false when the connection was cut.
func (p *FaultProxy) wait(c *pair) bool {
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	select {
	case <-c.done:
		return false
	case <-open:
		return true
	}
}

// deliver decides on what comes from the server.
func (p *FaultProxy) deliver(c *pair) verdict {
	request, deaf := c.answered()
	if deaf && len(request) == 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.kept++
		return swallow
	}
	p.mu.Lock()
	delay := p.delay
	lost := len(request) > 0 && p.drop != nil && p.drop(request)
	if lost {
		p.cuts++
	}
	p.mu.Unlock()
	if lost {
		return breakOff
	}
	if delay == 0 {
		return pass
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-c.done:
		return breakOff
	case <-timer.C:
		return pass
	}
}

func (p *FaultProxy) refused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refuse || p.closed
}

// add makes the connection one that CutAll cuts. It is false when the proxy has
// closed in the meantime.
func (p *FaultProxy) add(c *pair) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.pairs[c] = struct{}{}
	}
	return !p.closed
}

func (p *FaultProxy) remove(c *pair) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, c)
}

func (c *pair) sent(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request = append(c.request, b...)
	if extra := len(c.request) - maxRequest; extra > 0 {
		c.request = append(c.request[:0], c.request[extra:]...)
	}
}

// answered returns the request that a reply belongs to: nothing for a later part
// of a reply, and for a message that nobody asked for.
func (c *pair) answered() (request []byte, deaf bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	request = c.request
	c.request = nil
	return request, c.deaf
}

func (c *pair) close(how ending) {
	c.cut.Do(func() {
		close(c.done)
		for _, conn := range []net.Conn{c.client, c.server} {
			if tcp, ok := conn.(*net.TCPConn); ok && how == reset {
				_ = tcp.SetLinger(0)
			}
			if conn != nil {
				_ = conn.Close()
			}
		}
	})
}
