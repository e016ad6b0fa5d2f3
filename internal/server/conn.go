package server

import (
	"context"
	"io"
	"sync"
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
	frameOverhead  = 64  // what a queued frame costs besides its bytes
	closeWait      = 5 * time.Second
	lingerWait     = 2 * time.Second
)

// connLimits bound what one connection costs.
type connLimits struct {
	queueBytes int
	writeWait  time.Duration
	pingEvery  time.Duration
	pongWait   time.Duration
}

// conn is one websocket: it reads messages, and queues frames for a writer that exists
// only while there is something to write. Sending never waits. A reader that leaves more
// than the queue holds unread is cut off, and one that answers no ping is gone.
type conn struct {
	ws     *websocket.Conn
	limits connLimits
	tasks  *sync.WaitGroup    // counts the goroutines of all connections
	cancel context.CancelFunc // ends what runs for the connection, once it starts to close

	mu      sync.Mutex
	queue   []frame // without the one being written
	queued  int     // bytes in it, overhead included, a giant left out
	giant   bool    // one is queued
	writing bool    // a writer runs
	closing bool    // nothing but the close frame may be queued any more
	closeBy time.Time
	pinger  *time.Timer
}

type frame struct {
	kind int // a message type of package websocket
	data []byte
}

func (f frame) cost() int { return len(f.data) + frameOverhead }

// isGiant reports whether the frame alone is more than a queue holds, as a page of very
// long posts may be. That is not the reader's fault, so one of them may wait.
func (c *conn) isGiant(f frame) bool { return f.cost() > c.limits.queueBytes }

func newConn(ws *websocket.Conn, limits connLimits, tasks *sync.WaitGroup, cancel context.CancelFunc) *conn {
	c := &conn{ws: ws, limits: limits, tasks: tasks, cancel: cancel}
	ws.SetPongHandler(func(string) error { c.alive(); return nil })
	ws.SetPingHandler(func(data string) error {
		c.alive()
		c.enqueue(frame{websocket.PongMessage, []byte(data)})
		return nil
	})
	c.alive()
	c.mu.Lock()
	c.pinger = time.AfterFunc(limits.pingEvery, c.ping)
	c.mu.Unlock()
	return c
}

// send queues a text message. On a connection that is closing it does nothing.
func (c *conn) send(message []byte) { c.enqueue(frame{websocket.TextMessage, message}) }

func (c *conn) enqueue(f frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return
	}
	full := c.queued+f.cost() > c.limits.queueBytes
	if c.isGiant(f) {
		full = c.giant
	}
	if full {
		c.queue, c.queued = nil, 0
		c.closeLocked(closeTryLater, "the reader is too slow")
		return
	}
	c.pushLocked(f)
}

func (c *conn) pushLocked(f frame) {
	c.queue = append(c.queue, f)
	if c.isGiant(f) {
		c.giant = true
	} else {
		c.queued += f.cost()
	}
	if !c.writing {
		c.writing = true
		c.tasks.Go(c.write)
	}
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
	c.pinger.Stop()
	c.pushLocked(frame{websocket.CloseMessage, websocket.FormatCloseMessage(code, shorten(reason))})
	c.cancel()
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
	c.queue, c.queued = nil, 0
	c.pinger.Stop()
	c.mu.Unlock()
	c.cancel()
	_ = c.ws.Close() // the connection is given up anyway
}

// write writes frames until there is none left.
func (c *conn) write() {
	for {
		f, deadline, ok := c.next()
		if !ok {
			return
		}
		var err error
		if f.kind == websocket.TextMessage {
			_ = c.ws.SetWriteDeadline(deadline)
			err = c.ws.WriteMessage(f.kind, f.data)
		} else {
			err = c.ws.WriteControl(f.kind, f.data, deadline)
		}
		if err != nil {
			c.abort()
			return
		}
		if f.kind == websocket.CloseMessage {
			// The client answers with a close frame of its own. Until then what it still sends
			// is read and dropped: closing with unread data would reset the connection, and the
			// client might never see the code.
			_ = c.ws.SetReadDeadline(time.Now().Add(lingerWait))
			return
		}
	}
}

func (c *conn) next() (f frame, deadline time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.queue, c.writing = nil, false // an idle connection keeps no queue
		return frame{}, time.Time{}, false
	}
	f = c.queue[0]
	c.queue[0] = frame{}
	c.queue = c.queue[1:]
	if c.isGiant(f) {
		c.giant = false
	} else {
		c.queued -= f.cost()
	}
	now := time.Now()
	deadline = now.Add(c.limits.writeWait)
	if c.closing && c.closeBy.Before(deadline) {
		deadline = c.closeBy
	}
	if soonest := now.Add(time.Second); deadline.Before(soonest) {
		deadline = soonest // the frames before took all the time; one that fits the buffers may still go
	}
	return f, deadline, true
}

// ping asks the client for a sign of life, now and again.
func (c *conn) ping() {
	c.enqueue(frame{websocket.PingMessage, nil})
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.pinger.Reset(c.limits.pingEvery)
	}
}

// alive notes a sign of life. Who gives none until after the next ping is gone.
func (c *conn) alive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = c.ws.SetReadDeadline(time.Now().Add(c.limits.pingEvery + c.limits.pongWait))
	}
}

func (c *conn) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// receive hands each text message to handle, until the connection ends.
func (c *conn) receive(handle func(message []byte)) {
	defer c.abort()
	for {
		kind, r, err := c.ws.NextReader()
		if err != nil {
			return
		}
		if c.isClosing() {
			continue
		}
		message, err := io.ReadAll(io.LimitReader(r, maxBody+1))
		switch {
		case err != nil:
			return
		case len(message) > maxBody:
			c.close(closeTooBig, "the message is too big")
		case kind != websocket.TextMessage:
			c.close(closeInvalid, "messages are text")
		case !utf8.Valid(message):
			c.close(closeNotUTF8, "the message is not UTF-8")
		default:
			c.alive()
			handle(message)
		}
	}
}
