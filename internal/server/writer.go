package server

import (
	"time"

	"github.com/gorilla/websocket"
)

// write writes what is queued until there is nothing left.
func (c *conn) write() {
	if c.gzip {
		c.writeCompressed()
		return
	}
	buffer := c.wire.buffers.get()
	defer c.wire.buffers.put(buffer)
	socket := c.ws.NetConn()
	for {
		deadline, last, ok := c.nextBatch(buffer)
		if !ok {
			return
		}
		_ = socket.SetWriteDeadline(deadline) // fails on a broken connection, as the write will
		if _, err := socket.Write(*buffer); err != nil {
			c.abort()
			return
		}
		if last {
			c.ended()
			return
		}
	}
}

// writeCompressed does so message by message.
func (c *conn) writeCompressed() {
	buffer := c.wire.buffers.get()
	defer c.wire.buffers.put(buffer)
	for {
		f, deadline, ok := c.next()
		if !ok {
			return
		}
		*buffer = f.appendMessage((*buffer)[:0])
		var err error
		if f.kind == websocket.TextMessage {
			_ = c.ws.SetWriteDeadline(deadline)
			err = c.ws.WriteMessage(f.kind, *buffer)
		} else {
			err = c.ws.WriteControl(f.kind, *buffer, deadline)
		}
		if err != nil {
			c.abort()
			return
		}
		if f.kind == websocket.CloseMessage {
			c.ended()
			return
		}
	}
}

// ended notes that the close frame was written.
func (c *conn) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	c.closedLocked()
}

// nextBatch fills the buffer with frames, as many as are worth one write, and says
// until when to write them and whether they end the connection. Without any the writer is
// done.
func (c *conn) nextBatch(buffer *[]byte) (deadline time.Time, last, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := append((*buffer)[:0], c.rest...)
	last = c.rest != nil && c.restEnds
	c.rest = nil
	for len(b) < batchBytes && len(c.queue) > 0 && !last {
		f := c.takeLocked()
		last = f.kind == websocket.CloseMessage
		b = f.appendTo(b)
	}
	*buffer = b
	if len(b) == 0 {
		c.idleLocked()
		return time.Time{}, false, false
	}
	return c.deadlineLocked(), last, true
}

func (c *conn) next() (f frame, deadline time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.idleLocked()
		return frame{}, time.Time{}, false
	}
	return c.takeLocked(), c.deadlineLocked(), true
}

// idleLocked notes that the writer is done. An idle connection keeps no queue, and no
// deadline that would pass.
func (c *conn) idleLocked() {
	c.queue, c.writing = nil, false
	_ = c.ws.NetConn().SetWriteDeadline(time.Time{})
}

func (c *conn) takeLocked() frame {
	f := c.queue[0]
	c.queue[0] = frame{}
	c.queue = c.queue[1:]
	if c.isGiant(f) {
		c.giant = false
	} else {
		c.queued -= f.cost()
	}
	c.roomLocked()
	return f
}

// roomLocked lets those go on that wait for room.
func (c *conn) roomLocked() {
	if c.room != nil && c.queued <= c.wire.queueBytes/2 {
		close(c.room)
		c.room = nil
	}
}

func (c *conn) deadlineLocked() time.Time {
	now := time.Now()
	deadline := now.Add(c.wire.writeWait)
	if c.closing && c.closeBy.Before(deadline) {
		deadline = c.closeBy
	}
	if soonest := now.Add(time.Second); deadline.Before(soonest) {
		deadline = soonest // what came before took all the time; what fits the buffers may still go
	}
	return deadline
}
