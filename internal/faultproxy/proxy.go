// Package faultproxy forwards connections to a Redis server and injects network faults.
package faultproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// maxRequest bounds how much of a request the proxy keeps to decide on its reply.
const maxRequest = 64 << 10

const (
	dialTime    = time.Minute // bounds a connection to the server
	acceptPause = 10 * time.Millisecond
)

// Proxy forwards connections to a server and injects network faults.
type Proxy struct {
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
	kept   int // number of dropped pushes
}

// pair is one forwarded connection.
type pair struct {
	client, server net.Conn
	done           chan struct{} // closed when the connection closes
	cut            sync.Once

	mu      sync.Mutex
	request []byte // sent by the client since the server last replied
	deaf    bool   // whether only replies may pass to the client
}

// New starts a proxy on a port of 127.0.0.1 in front of the server at an address. [Proxy.Close] stops it.
func New(targetNetwork, targetAddr string) (*Proxy, error) {
	return NewAt("127.0.0.1:0", targetNetwork, targetAddr)
}

// NewAt is like [New] for a proxy at a TCP address.
func NewAt(addr, targetNetwork, targetAddr string) (*Proxy, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the proxy: %w", err)
	}
	p := &Proxy{
		listener: listener, network: targetNetwork, target: targetAddr,
		pairs: map[*pair]struct{}{}, open: make(chan struct{}),
	}
	close(p.open)
	p.work.Go(p.accept)
	return p, nil
}

// Close stops the proxy and resets its connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.ResetAll()
	p.work.Wait()
}

// Addr returns the TCP address of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// URL returns the address of the proxy as a URL for redis.ParseURL.
func (p *Proxy) URL() string { return "redis://" + p.Addr() + "/0" }

// ResetAll resets all open connections.
func (p *Proxy) ResetAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.close(reset)
	}
}

// Refuse switches the refusal of new connections on or off. A refused connection is reset.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = on
}

// Delay delays every reply by d from now on. 0 switches it off.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// BlackHole switches a black hole on or off: while it is on, nothing passes in either
// direction. As with TCP, bytes sent meanwhile arrive late; to lose them, call
// [Proxy.ResetAll] before switching it off.
func (p *Proxy) BlackHole(on bool) {
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

// DropPushes drops, on the connections that are open now, every message that is not a reply,
// like a middlebox that lost its state. Replies still pass, so a ping succeeds.
func (p *Proxy) DropPushes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.mu.Lock()
		c.deaf = true
		c.mu.Unlock()
	}
}

// DroppedPushes returns how often [Proxy.DropPushes] dropped a message.
func (p *Proxy) DroppedPushes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept
}

// DropReplies drops the replies to the next n requests: the server executes the request, and
// the connection is reset when the reply arrives. Handshakes of new connections are exempt.
func (p *Proxy) DropReplies(n int) {
	p.DropRepliesIf(func(request []byte) bool {
		if n == 0 || Handshake(request) {
			return false
		}
		n--
		return true
	})
}

// DropRepliesIf drops the replies to requests for which lost returns true; nil switches it
// off. A request is what the client sent since the server's last reply, possibly a whole
// pipeline, truncated to its last 64 KiB. Calls of lost do not overlap, and must not call
// the proxy.
func (p *Proxy) DropRepliesIf(lost func(request []byte) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop = lost
}

// DroppedReplies returns the number of dropped replies.
func (p *Proxy) DroppedReplies() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Handshake reports whether a request is part of the handshake of a new connection.
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

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptPause) // out of file descriptors, for example
			continue
		}
		p.work.Go(func() { p.forward(client) })
	}
}

func (p *Proxy) forward(client net.Conn) {
	c := &pair{client: client, done: make(chan struct{})}
	if p.refused() {
		c.close(reset)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	server, err := new(net.Dialer).DialContext(ctx, p.network, p.target)
	if err != nil {
		c.close(reset) // the server is not running
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

// ending says how a connection is closed.
type ending bool

const (
	orderly ending = false
	reset   ending = true // neither side can mistake it for an orderly end
)

// verdict says what happens to forwarded bytes.
type verdict int

const (
	pass verdict = iota
	discard
	resetConn
)

// pump copies until either side ends, or the judge resets the connection.
func (p *Proxy) pump(to, from net.Conn, c *pair, judge func([]byte) verdict) ending {
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
			case discard:
			case resetConn:
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

// wait returns true when bytes may pass, and false if the connection was closed.
func (p *Proxy) wait(c *pair) bool {
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

// deliver decides what happens to bytes from the server.
func (p *Proxy) deliver(c *pair) verdict {
	request, deaf := c.answered()
	if deaf && len(request) == 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.kept++
		return discard
	}
	p.mu.Lock()
	delay := p.delay
	lost := len(request) > 0 && p.drop != nil && p.drop(request)
	if lost {
		p.cuts++
	}
	p.mu.Unlock()
	if lost {
		return resetConn
	}
	if delay == 0 {
		return pass
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-c.done:
		return resetConn
	case <-timer.C:
		return pass
	}
}

func (p *Proxy) refused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refuse || p.closed
}

// add registers the connection. It returns false if the proxy has been closed meanwhile.
func (p *Proxy) add(c *pair) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.pairs[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxy) remove(c *pair) {
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

// answered returns the request that a reply belongs to. It returns nothing for a later part of
// a reply and for a pushed message.
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
