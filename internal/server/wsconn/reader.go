package wsconn

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

// ChargeCompressed makes [Conn.Receive] call pay with the number of bytes that arrived, before it reads more, if messages are compressed.
// The connection closes when pay returns false.
func (c *Conn) ChargeCompressed(pay func(bytes int) bool) {
	if c.gzip {
		c.wire.pay = pay
	}
}

// ReadInLine makes the connections that have the same line wait, one at a time, for their turn to read what has arrived. Thousands may be woken
// at once, and to read first would take the cores from others. Call it before [Conn.Receive], or in the handler. With TLS, messages are read without
// a turn.
func (c *Conn) ReadInLine(line *sync.Mutex) { c.wire.line = line }

// Receive calls handle with each text message, one at a time and in turn, until the connection ends.
func (c *Conn) Receive(handle func(message []byte)) {
	for {
		c.wire.begin(c.isClosing())
		kind, r, err := c.ws.NextReader()
		if err != nil {
			c.readEnded(err)
			return
		}
		if !c.messageStarts() {
			continue
		}
		message, err := c.readMessage(c.wire.text(r))
		if c.gzip {
			c.inflates.Set(0)
		}
		if len(message) < c.shared.LargeMessage {
			c.arrivals.Set(0)
		}
		switch {
		case errors.Is(err, errTooManyArrive):
			c.Close(CodeTryAgainLater, errTooManyArrive.Error())
		case err != nil:
			c.arrivals.Set(0)
			c.readEnded(err)
			return
		case len(message) > c.shared.MaxMessage:
			c.Refuse(codeTooBig, "the message is too big")
		case kind != websocket.TextMessage:
			c.Refuse(c.shared.BinaryCode, "messages are text")
		case !utf8.Valid(message):
			c.Refuse(codeInvalidUTF8, "the message is not UTF-8")
		default:
			c.messageArrived()
			c.wire.leaveLine()
			c.wire.takeTurnFor(len(message), len(message) >= c.shared.LargeMessage)
			handle(message)
			c.wire.endTurn()
		}
		if len(message) >= c.shared.LargeMessage {
			c.arrivals.Set(0)
		}
	}
}

// Arrived returns how many bytes have arrived for the message that is being handled, with the headers of its frames. A few of them may belong
// to the next message.
func (c *Conn) Arrived(message []byte) int { return max(len(message), c.wire.received) }

var errTooManyArrive = errors.New("too many messages arrive slowly")

// inflaterSize is what gorilla/websocket keeps for a compressed message from the header of its first frame to its end.
const inflaterSize = 48 << 10

// smallPart is the part of a large message up to which the text of one does not count.
const smallPart = 8

// readMessage reads a message, and one byte more if it is too big. A message may arrive slowly, so it counts while it is arriving, unless it is
// small: as what it may take up to the next size.
func (c *Conn) readMessage(r io.Reader) (message []byte, err error) {
	if c.gzip && !c.inflates.Set(inflaterSize) { // whether this message is compressed is known only to gorilla
		return nil, errTooManyArrive
	}
	small, large, tooBig := c.shared.LargeMessage/smallPart, c.shared.LargeMessage, c.shared.MaxMessage+1
	message, err = io.ReadAll(io.LimitReader(r, int64(small)))
	for at, next := small, large; err == nil && len(message) == at && at < tooBig; at, next = next, tooBig {
		if !c.arrivals.Set(min(next, c.shared.MaxMessage)) {
			return message, errTooManyArrive
		}
		all := bytes.NewBuffer(append(make([]byte, 0, next+bytes.MinRead), message...)) // it never grows to more than is counted
		_, err = all.ReadFrom(io.LimitReader(r, int64(next-at)))
		message = all.Bytes()
	}
	return message, err
}

// alive notes a sign of life.
func (c *Conn) alive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heardAt = time.Now()
}

// isClosing reports whether messages are dropped.
func (c *Conn) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// messageStarts notes that a message starts to arrive. It reports false on a connection
// that is closing, where messages are dropped.
func (c *Conn) messageStarts() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arriving = time.Now()
	return !c.closing
}

// messageArrived notes that a message is complete, which is a sign of life.
func (c *Conn) messageArrived() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heardAt, c.arriving = time.Now(), time.Time{}
}

// readEnded ends a connection from which nothing more arrives. A client that has sent a
// close frame is sent the answer first, if that takes a writer.
func (c *Conn) readEnded(err error) {
	c.wire.endTurn()
	switch {
	case errors.Is(err, errTooManyFrames):
		c.Refuse(websocket.ClosePolicyViolation, err.Error())
		c.discard()
	case errors.Is(err, errUnpaid):
		c.Close(CodeTryAgainLater, err.Error())
		c.discard()
	}
	closed, ok := errors.AsType[*websocket.CloseError](err)
	c.mu.Lock()
	c.readDone = ok && closed.Code != websocket.CloseAbnormalClosure
	wait := c.readDone && c.writing
	c.mu.Unlock()
	if !wait {
		defer c.takeTurn()() // a hundred subscriptions may end with it
		c.Abort()
	}
}

// discard drops what arrives until the deadline that closing sets. It pauses between reads, so that each returns much: a client that sends
// byte by byte would otherwise keep a core busy.
func (c *Conn) discard() {
	buffer := make([]byte, discardBytes)
	for {
		if _, err := c.wire.Conn.Read(buffer); err != nil {
			return
		}
		time.Sleep(discardPause)
	}
}
