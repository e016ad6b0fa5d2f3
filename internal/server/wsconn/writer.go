package wsconn

import (
	"time"

	"github.com/gorilla/websocket"
)

// write writes the queue until it is empty.
func (c *Conn) write() {
	if c.gzip {
		c.writeCompressed()
		return
	}
	buffer := c.shared.buffers.Get()
	defer c.shared.buffers.Put(buffer)
	for {
		deadline, last, ok := c.nextBatch(buffer)
		if !ok {
			return
		}
		if err := c.writeAll(*buffer, deadline); err != nil {
			c.abortInTurn()
			return
		}
		if last {
			c.closeSent()
			return
		}
	}
}

// abortInTurn aborts a connection of which a write has failed: thousands may reach their deadlines at the same moment.
func (c *Conn) abortInTurn() {
	defer c.takeTurn()()
	c.Abort()
}

// writeAll writes frames.
func (c *Conn) writeAll(frames []byte, deadline time.Time) error {
	socket := c.ws.NetConn()
	_ = socket.SetWriteDeadline(deadline) // fails on a broken connection, as the write will
	_, err := socket.Write(frames)
	return err //nolint:wrapcheck // the connection is given up
}

// writeCompressed writes the queue message by message. It compresses a message before it writes it: a socket may block for seconds.
func (c *Conn) writeCompressed() {
	buffer := c.shared.buffers.Get()
	defer c.shared.buffers.Put(buffer)
	for {
		f, ok := c.next()
		if !ok {
			return
		}
		kind := f.Kind
		frame := c.compress(buffer, f)
		if err := c.writeAll(frame, c.deadline()); err != nil {
			c.abortInTurn()
			return
		}
		if kind == websocket.CloseMessage {
			c.closeSent()
			return
		}
	}
}

// compress returns a message as a frame, in a buffer. It compresses a text, unless the connection closes while that waits for its turns.
func (c *Conn) compress(buffer *[]byte, f Frame) (frame []byte) {
	if f.Kind == websocket.TextMessage {
		text := c.shared.buffers.Get()
		defer c.shared.buffers.Put(text)
		*text = f.appendMessage((*text)[:0])
		b, err := c.shared.compressors.Append(append((*buffer)[:0], make([]byte, maxHeader)...), *text, c.beginPart)
		if err == nil {
			*buffer = b
			return completeCompressed(b)
		}
	}
	*buffer = f.appendTo((*buffer)[:0])
	return *buffer
}

// beginPart waits until a part of a message may be compressed.
func (c *Conn) beginPart() (done func(), err error) {
	if c.turns == nil {
		return func() {}, nil
	}
	return c.turns.Compress()
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
func (c *Conn) next() (f Frame, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.inWrite = 0
		c.countLocked()
		c.idleLocked()
		return Frame{}, false
	}
	f = c.takeLocked()
	c.inWrite = f.length()
	c.countLocked()
	return f, true
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

// deadline returns the deadline of a write that begins now.
func (c *Conn) deadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deadlineLocked()
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
