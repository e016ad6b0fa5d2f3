package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

// Close codes: those of the protocol, and what RFC 6455 and its registry offer.
const (
	closeTooBig      = websocket.CloseMessageTooBig
	closeNotUTF8     = websocket.CloseInvalidFramePayloadData
	closeRestart     = websocket.CloseServiceRestart
	closeTryLater    = websocket.CloseTryAgainLater
	closeInvalid     = 4400
	closeNotReady    = 4401
	closeForbidden   = 4403
	closeSubprotocol = 4406
	closeInitTimeout = 4408
	closeDuplicate   = 4409
	closeSecondInit  = 4429
)

const (
	maxCloseReason = 123 // bytes, says RFC 6455
	closeWait      = 5 * time.Second
	lingerWait     = 2 * time.Second
)

// wire is what all connections share.
type wire struct {
	queueBytes int
	writeWait  time.Duration
	pingEvery  time.Duration
	pongWait   time.Duration
	buffers    buffers
	tasks      sync.WaitGroup // counts what goes on for all connections
	cutOffs    atomic.Int64   // readers that were too slow
}

// conn is one websocket: it reads messages, and writes frames. Sending never waits: what
// the socket does not take at once is queued, for a writer that exists only while there is
// something to write. A reader that leaves more than the queue holds unread is cut off,
// and one that answers no ping is gone.
//
// gorilla's connection reads, and writes where messages are compressed. Other frames go
// past it: it could not send the parts of a message that many connections share, nor try
// without waiting.
type conn struct {
	// What each event needs comes first: with thousands of connections nothing is in the
	// processor's caches, and every line of theirs counts.
	wire *wire

	mu       sync.Mutex
	direct   direct        // notDirect where only a writer may write
	gzip     bool          // messages are compressed
	writing  bool          // a writer runs
	closing  bool          // nothing but the close frame may be queued any more
	giant    bool          // one is queued
	restEnds bool          // rest was the close frame
	readDone bool          // the client has sent its close frame
	queued   int           // bytes in queue, overhead included, a giant left out
	queue    []frame       // without what is being written
	room     chan struct{} // closed when the queue is half empty again; nil when nobody waits
	rest     []byte        // of a frame that the socket took a part of
	closeBy  time.Time
	pingAt   time.Time
	heardAt  time.Time
	coming   time.Time // since when a message comes in; zero while none does

	ws     *websocket.Conn
	cancel context.CancelFunc // ends what runs for the connection, once it starts to close
}

// notDirect is the direct writing that there is none of.
const notDirect direct = -1

// isGiant reports whether the frame alone is more than a queue holds, as a page of very
// long posts may be. That is not the reader's fault, so one of them may wait.
func (c *conn) isGiant(f frame) bool { return f.cost() > c.wire.queueBytes }

func newConn(ws *websocket.Conn, w *wire, gzip bool, cancel context.CancelFunc) *conn {
	now := time.Now()
	c := &conn{ws: ws, wire: w, gzip: gzip, cancel: cancel, direct: notDirect, pingAt: now.Add(w.pingEvery), heardAt: now}
	if !gzip {
		c.direct = newDirect(ws.NetConn())
	}
	ws.SetPongHandler(func(string) error { c.alive(); return nil })
	ws.SetPingHandler(func(data string) error {
		c.alive()
		c.enqueue(frame{kind: websocket.PongMessage, data: []byte(data)}, false)
		return nil
	})
	ws.SetCloseHandler(func(code int, _ string) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closing {
			c.closeLocked(code, "")
		}
		return nil
	})
	return c
}

// send queues a text message. On a connection that is closing it does nothing.
func (c *conn) send(message []byte) {
	c.enqueue(frame{kind: websocket.TextMessage, data: message}, false)
}

// enqueue queues a frame. With more to come, what is written by one call may wait for
// that; then whoever said so has to send it, or flush.
func (c *conn) enqueue(f frame, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return
	}
	full := c.queued+f.cost() > c.wire.queueBytes
	if c.isGiant(f) {
		full = c.giant
	}
	if full {
		c.queue, c.queued = nil, 0
		c.wire.cutOffs.Add(1)
		c.closeLocked(closeTryLater, "the reader is too slow")
		return
	}
	c.pushLocked(f, more)
}

// flush writes what waits for more to come.
func (c *conn) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writing || len(c.queue) == 0 {
		return
	}
	if c.direct == notDirect || !c.writeNowLocked() {
		c.startLocked()
	}
}

func (c *conn) startLocked() {
	c.writing = true
	c.wire.tasks.Go(c.write)
}

func (c *conn) pushLocked(f frame, more bool) {
	if !c.writing && (!more || c.queued >= batchBytes) {
		if c.direct != notDirect && c.writeNowLocked(f) {
			return
		}
		c.startLocked()
		if c.rest != nil {
			return
		}
	}
	c.queue = append(c.queue, f)
	if c.isGiant(f) {
		c.giant = true
	} else {
		c.queued += f.cost()
	}
}

// writeNowLocked writes what is queued, and another frame, as far as the socket takes it
// without waiting. It reports whether that was all. If it was some, the rest is left to a
// writer; if it was nothing, so is all.
func (c *conn) writeNowLocked(last ...frame) (all bool) {
	buffer := c.wire.buffers.get()
	defer c.wire.buffers.put(buffer)
	ending := false
	b := (*buffer)[:0]
	for _, frames := range [...][]frame{c.queue, last} {
		for i := range frames {
			b = frames[i].appendTo(b)
			ending = frames[i].kind == websocket.CloseMessage
		}
	}
	*buffer = b
	n := c.direct.write(b)
	if n == 0 {
		return false
	}
	c.queue, c.queued, c.giant = nil, 0, false
	c.roomLocked()
	if n < len(b) {
		c.rest, c.restEnds = bytes.Clone(b[n:]), ending
		return false
	}
	if ending {
		c.closedLocked()
	}
	return true
}

// close sends what is queued and then the close frame, within a few seconds or not at
// all. The first call decides the code.
func (c *conn) close(code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.closeLocked(code, reason)
	}
}

func (c *conn) closeLocked(code int, reason string) {
	c.closing = true
	c.closeBy = time.Now().Add(closeWait)
	c.pushLocked(frame{kind: websocket.CloseMessage, data: websocket.FormatCloseMessage(code, shorten(reason))}, false)
	c.cancel()
}

// closedLocked notes that the close frame is on its way. The client answers with one of
// its own. Until then what it still sends is read and dropped: closing with unread data
// would reset the connection, and the client might never see the code.
func (c *conn) closedLocked() {
	if c.readDone {
		c.shutLocked() // both have said all there is
		return
	}
	_ = c.ws.SetReadDeadline(time.Now().Add(lingerWait))
}

// shorten cuts a close reason to the length that a close frame holds.
func shorten(reason string) string {
	if len(reason) <= maxCloseReason {
		return reason
	}
	cut := maxCloseReason
	for !utf8.RuneStart(reason[cut]) {
		cut--
	}
	return reason[:cut]
}

// abort ends the connection without a word. It may be called often.
func (c *conn) abort() {
	c.mu.Lock()
	c.closing = true
	c.rest, c.queue, c.queued = nil, nil, 0
	c.shutLocked()
	c.mu.Unlock()
	c.cancel()
}

// shutLocked closes the socket. From then on its descriptor may be somebody else's.
func (c *conn) shutLocked() {
	c.direct = notDirect
	_ = c.ws.Close() // the connection is given up anyway
}

// alive notes a sign of life. Who gives none until some time after a ping is gone.
func (c *conn) alive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heardAt = time.Now()
}

// begins notes that a message comes in. It reports false on a connection that is closing,
// where nobody reads it.
func (c *conn) begins() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coming = time.Now()
	return !c.closing
}

// complete notes that all of it has come, which is a sign of life.
func (c *conn) complete() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heardAt, c.coming = time.Now(), time.Time{}
}

// tick asks the client for a sign of life, now and again. It reports false for a client
// that is gone.
func (c *conn) tick(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
	case now.Sub(c.heardAt) >= c.wire.pingEvery+c.wire.pongWait:
		return false
	case !c.coming.IsZero() && now.Sub(c.coming) >= readTime:
		return false // pongs between the parts of a message, so that its memory is never free
	case !now.Before(c.pingAt):
		c.pingAt = now.Add(c.wire.pingEvery)
		c.pushLocked(frame{kind: websocket.PingMessage}, false)
	}
	return true
}

// queuedBytes returns how much waits for the reader.
func (c *conn) queuedBytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queued + len(c.rest)
}

// waitForRoom returns when no more than half of the queue is taken, or ctx is done.
func (c *conn) waitForRoom(ctx context.Context) {
	c.mu.Lock()
	if c.closing || c.queued <= c.wire.queueBytes/2 {
		c.mu.Unlock()
		return
	}
	if c.room == nil {
		c.room = make(chan struct{})
	}
	room := c.room
	c.mu.Unlock()
	select {
	case <-room:
	case <-ctx.Done():
	}
}

// receive hands each text message to handle, until the connection ends.
func (c *conn) receive(handle func(message []byte)) {
	for {
		kind, r, err := c.ws.NextReader()
		if err != nil {
			c.readEnded(err)
			return
		}
		if !c.begins() {
			continue
		}
		message, err := io.ReadAll(io.LimitReader(r, maxBody+1))
		switch {
		case err != nil:
			c.abort()
			return
		case len(message) > maxBody:
			c.close(closeTooBig, "the message is too big")
		case kind != websocket.TextMessage:
			c.close(closeInvalid, "messages are text")
		case !utf8.Valid(message):
			c.close(closeNotUTF8, "the message is not UTF-8")
		default:
			c.complete()
			handle(message)
		}
	}
}

// readEnded ends a connection from which nothing more will come. A client that has said
// so is sent the answer first, if that takes a writer.
func (c *conn) readEnded(err error) {
	closed, ok := errors.AsType[*websocket.CloseError](err)
	c.mu.Lock()
	c.readDone = ok && closed.Code != websocket.CloseAbnormalClosure
	wait := c.readDone && c.writing
	c.mu.Unlock()
	if !wait {
		c.abort()
	}
}
