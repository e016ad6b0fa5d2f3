package wsconn

import (
	"time"

	"github.com/gorilla/websocket"
)

// compressAtOnce is how many bytes of a message are compressed in one turn. That takes about 0.3 ms.
const compressAtOnce = 16 << 10

// write writes the queue until it is empty.
func (c *Conn) write() {
	if c.gzip {
		c.writeCompressed()
		return
	}
	buffer := c.shared.buffers.Get()
	defer c.shared.buffers.Put(buffer)
	socket := c.ws.NetConn()
	for {
		deadline, last, ok := c.nextBatch(buffer)
		if !ok {
			return
		}
		_ = socket.SetWriteDeadline(deadline) // fails on a broken connection, as the write will
		if _, err := socket.Write(*buffer); err != nil {
			c.Abort()
			return
		}
		if last {
			c.closeSent()
			return
		}
	}
}

// writeCompressed writes the queue message by message.
func (c *Conn) writeCompressed() {
	buffer := c.shared.buffers.Get()
	defer c.shared.buffers.Put(buffer)
	for {
		f, deadline, ok := c.next()
		if !ok {
			return
		}
		*buffer = f.appendMessage((*buffer)[:0])
		var err error
		if f.Kind == websocket.TextMessage {
			_ = c.ws.SetWriteDeadline(deadline)
			err = c.compress(*buffer)
		} else {
			err = c.ws.WriteControl(f.Kind, *buffer, deadline)
		}
		if err != nil {
			c.Abort()
			return
		}
		if f.Kind == websocket.CloseMessage {
			c.closeSent()
			return
		}
	}
}

// compress writes a text message, each part of it in a turn. It takes a compressor from the pool of the process when it has its first turn: one takes
// some hundred kilobytes, and thousands of connections may wait.
func (c *Conn) compress(text []byte) error {
	done := c.takeTurn()
	defer func() { done() }()
	w, err := c.ws.NextWriter(websocket.TextMessage)
	if err != nil {
		return err
	}
	for len(text) > compressAtOnce {
		if _, err := w.Write(text[:compressAtOnce]); err != nil {
			return err
		}
		text = text[compressAtOnce:]
		done()
		done = c.takeTurn()
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return w.Close()
}

// closeSent notes that the writer wrote the close frame.
func (c *Conn) closeSent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	c.closeSentLocked()
}

// nextBatch fills the buffer with frames, as many as are worth one write. It returns the
// deadline of the write, and whether the last frame is the close frame. It reports false
// when there are none; the writer then has to end.
func (c *Conn) nextBatch(buffer *[]byte) (deadline time.Time, last, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := append((*buffer)[:0], c.rest...)
	last = c.rest != nil && c.restEnds
	c.rest = nil
	for len(b) < batchBytes && len(c.queue) > 0 && !last {
		f := c.takeLocked()
		last = f.Kind == websocket.CloseMessage
		b = f.appendTo(b)
	}
	*buffer = b
	c.inWrite = len(b)
	c.countLocked()
	if len(b) == 0 {
		c.idleLocked()
		return time.Time{}, false, false
	}
	return c.deadlineLocked(), last, true
}

// next takes one frame. It reports false when there is none; the writer then has to end.
func (c *Conn) next() (f Frame, deadline time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.inWrite = 0
		c.countLocked()
		c.idleLocked()
		return Frame{}, time.Time{}, false
	}
	f = c.takeLocked()
	c.inWrite = f.length()
	c.countLocked()
	return f, c.deadlineLocked(), true
}

// idleLocked notes that the writer ends. An idle connection keeps no queue, and no deadline
// that would expire.
func (c *Conn) idleLocked() {
	c.queue, c.writing = nil, false
	_ = c.ws.NetConn().SetWriteDeadline(time.Time{})
}

func (c *Conn) takeLocked() Frame {
	f := c.queue[0]
	c.queue[0] = Frame{}
	c.queue = c.queue[1:]
	if c.isGiant(&f) {
		c.giant, c.oversize = false, 0
	} else {
		c.queued -= f.cost()
	}
	c.roomLocked()
	return f
}

// roomLocked wakes those that wait for room, if there is room.
func (c *Conn) roomLocked() {
	if c.room != nil && c.queued <= c.shared.QueueBytes/2 {
		close(c.room)
		c.room = nil
	}
}

func (c *Conn) deadlineLocked() time.Time {
	now := time.Now()
	deadline := now.Add(c.shared.WriteWait)
	if c.closing && c.closeBy.Before(deadline) {
		deadline = c.closeBy
	}
	if earliest := now.Add(time.Second); deadline.Before(earliest) {
		deadline = earliest // earlier frames took all the time; what fits the buffers may still be sent
	}
	return deadline
}
