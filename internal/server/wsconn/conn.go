// Package wsconn is the server's side of one websocket: frames, queue, deadlines, pings
// and the closing handshake. It is independent of the content of messages.
package wsconn

import (
	"bytes"
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

const (
	maxCloseReason = 123 // bytes, by RFC 6455
	closeWait      = 5 * time.Second
	lingerWait     = 2 * time.Second
	discardPause   = 50 * time.Millisecond
	discardBytes   = 8 << 10
	maxPings       = 20               // at once
	maxUnpaid      = 3                // the same without budget
	unpaidEvery    = 30 * time.Second // beside the answers to the pings of the server
)

// Conn is one websocket: it reads messages and writes frames. Sending never waits: what
// the socket does not accept at once is queued for a writer goroutine, which exists only
// while there is something to write. A reader that leaves more unread than the queue holds
// is disconnected, and so is one that answers no ping.
//
// gorilla's connection reads. Frames are written past it: it can neither assemble a message
// from shared parts nor try to write without waiting, and it keeps a compressor while it
// waits for the socket.
type Conn struct {
	// The fields that each event needs come first: with thousands of connections none of
	// them is in the processor's caches, and each cache line counts.
	shared *Shared

	mu       sync.Mutex
	direct   directWriter  // noDirectWriter where only a writer goroutine may write
	gzip     bool          // messages are compressed
	writing  bool          // a writer goroutine runs
	closing  bool          // nothing but the close frame may be queued any more
	giant    bool          // an oversized frame is queued
	restEnds bool          // rest was the close frame
	readDone bool          // the client has sent its close frame
	refused  bool          // the connection closes because of what the client has sent
	asked    bool          // the server has sent a ping, which is not answered
	queued   int           // bytes in queue, overhead included, without an oversized frame
	oversize int           // bytes of an oversized frame in queue
	inWrite  int           // bytes that the writer goroutine is writing
	counted  int           // bytes that account counts
	queue    []Frame       // without what is being written
	room     chan struct{} // closed when the queue is half empty again; nil when nobody waits
	rest     []byte        // of a frame that the socket accepted a part of
	closeBy  time.Time
	pingAt   time.Time
	heardAt  time.Time
	arriving time.Time // since when a message arrives; zero while none does

	pings    int       // that the client may still send
	pinged   time.Time // when pings was last replenished
	ws       *websocket.Conn
	wire     *wire
	account  Account            // of the bytes that wait for the client
	arrivals Account            // of the message that is arriving
	inflates Account            // of what it takes beside its text if messages are compressed, else nil
	turns    Turns              // of compression, and of the end; nil if they do not wait
	payer    Payer              // nil if the client pays for nothing
	cancel   context.CancelFunc // ends what runs for the connection, once it starts to close
}

// Account counts bytes of many connections together.
type Account interface {
	// Set changes how many bytes of this connection there are. It reports false, and changes nothing, if they are too many.
	Set(bytes int) bool
}

// Compresses reports whether messages to the client are compressed.
func (c *Conn) Compresses() bool { return c.gzip }

// New returns the connection of a websocket of [Upgrade]. The accounts count the bytes that wait for the client, those of
// a message that arrives, and what that takes beside its text if messages are compressed. The last one is nil if they are not. The connection calls
// cancel when it starts to close.
func New(ws *websocket.Conn, shared *Shared, account, arrivals, inflates Account, cancel context.CancelFunc) *Conn {
	gzip := inflates != nil
	now := time.Now()
	c := &Conn{ws: ws, wire: ws.NetConn().(*wire), account: account, arrivals: arrivals, inflates: inflates, shared: shared, gzip: gzip, cancel: cancel, direct: noDirectWriter, pingAt: now.Add(shared.PingEvery), heardAt: now, pings: maxPings, pinged: now}
	if !gzip {
		c.direct = newDirectWriter(c.wire.Conn)
	}
	ws.SetPongHandler(func(data string) error {
		c.controlArrived(data, c.answered())
		return nil
	})
	ws.SetPingHandler(func(data string) error {
		if c.controlArrived(data, false) {
			c.wire.before = func() { c.answer(data) }
		}
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

// controlArrived counts and charges the frame of a ping or pong, unless the server has asked for it. It reports false if there were too many. Their bytes
// then count as those of a message.
func (c *Conn) controlArrived(data string, asked bool) bool {
	c.alive()
	if !asked {
		if !c.Pinged() {
			return false
		}
		if c.payer != nil {
			c.payer.PayFor(len(data))
		}
	}
	c.wire.control(len(data))
	return true
}

// Turns make a connection wait until it may work, so that thousands of them that wake at once leave cores to others. The returned function has to
// be called afterwards.
type Turns interface {
	Turn() (done func())
	// TurnFor is like Turn, for a message of some bytes that is handled: a large one takes longer.
	TurnFor(bytes int) (done func())
	// Compress is like Turn, for a part of a message that is compressed. It fails if the connection closes.
	Compress() (done func(), err error)
}

// TakeTurns makes the connection read and handle messages, answer pings, and compress messages in turn.
func (c *Conn) TakeTurns(turns Turns) { c.turns, c.wire.turns = turns, turns }

func (c *Conn) takeTurn() (done func()) {
	if c.turns == nil {
		return func() {}
	}
	return c.turns.Turn()
}

// answer sends one pong for all pings that have arrived together, of which it gets the last, as RFC 6455 allows in section 5.5.3.
func (c *Conn) answer(ping string) {
	c.wire.takeTurn()
	c.Enqueue(Frame{Kind: websocket.PongMessage, Data: []byte(ping)}, false)
}

// Payer has the budget of a client.
type Payer interface {
	Affords() bool    // reports whether there is some left
	PayFor(bytes int) // charges for a message, ping or pong that starts nothing
}

// PaidBy sets who pays for the pings and pongs of the client.
func (c *Conn) PaidBy(payer Payer) { c.payer = payer }

// Pinged counts a ping, or another message that starts nothing. A client may send [maxPings] of them at once, and one per
// second; without budget [maxUnpaid], and one each [unpaidEvery]: each packet wakes the process, whether it is read or not. If it sends more, Pinged
// closes the connection and reports false.
func (c *Conn) Pinged() bool {
	most, every, code, reason := maxPings, time.Second, websocket.ClosePolicyViolation, "too many pings"
	if c.payer != nil && !c.payer.Affords() {
		most, every, code, reason = maxUnpaid, unpaidEvery, CodeTryAgainLater, "the rate limit is used up"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	more := int(time.Since(c.pinged) / every)
	c.pings, c.pinged = min(c.pings+more, most), c.pinged.Add(time.Duration(more)*every)
	if c.pings--; c.pings >= 0 {
		return true
	}
	c.refuseLocked(code, reason)
	return false
}

// Send queues a text message. On a connection that is closing it does nothing.
func (c *Conn) Send(message []byte) {
	c.Enqueue(Frame{Kind: websocket.TextMessage, Data: message}, false)
}

// isGiant reports whether the frame alone is more than a queue holds, as a page of very
// long posts may be. That is not the reader's fault, so one such frame may wait.
func (c *Conn) isGiant(f *Frame) bool { return f.cost() > c.shared.QueueBytes }

// Enqueue queues a frame. If more is true, another frame follows and the write may be deferred; the
// caller then has to enqueue the last one without more, or to call [Conn.Flush].
func (c *Conn) Enqueue(f Frame, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return
	}
	full := c.queued+f.cost() > c.shared.QueueBytes
	if c.isGiant(&f) {
		full = c.giant
	}
	if !full {
		c.pushLocked(f, more)
		if c.countLocked() {
			return
		}
	}
	c.dropLocked()
	c.shared.SlowConsumers.Add(1)
	c.closeLocked(CodeTryAgainLater, "the reader is too slow")
}

// countLocked tells the account how many bytes wait. It reports false if they are too many.
func (c *Conn) countLocked() bool {
	if waiting := c.waitingLocked(); waiting != c.counted {
		if !c.account.Set(waiting) {
			return false
		}
		c.counted = waiting
	}
	return true
}

func (c *Conn) waitingLocked() int { return c.queued + c.oversize + len(c.rest) + c.inWrite }

// dropLocked drops the queue.
func (c *Conn) dropLocked() {
	c.queue, c.queued, c.oversize, c.giant = nil, 0, 0, false
	c.countLocked()
}

// Flush writes the frames that wait for more.
func (c *Conn) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writing || len(c.queue) == 0 {
		return
	}
	if c.direct == noDirectWriter || !c.writeNowLocked() {
		c.startLocked()
	}
}

func (c *Conn) startLocked() {
	c.writing = true
	c.shared.Tasks.Go(c.write)
}

func (c *Conn) pushLocked(f Frame, more bool) {
	if !c.writing && (!more || c.queued >= batchBytes) {
		if c.direct != noDirectWriter && c.writeNowLocked(f) {
			return
		}
		c.startLocked()
		if c.rest != nil {
			return
		}
	}
	c.queue = append(c.queue, f)
	if c.isGiant(&f) {
		c.giant, c.oversize = true, f.cost()
	} else {
		c.queued += f.cost()
	}
}

// writeNowLocked writes the queue and another frame as far as the socket accepts them
// without waiting. It reports whether that was all. If the socket accepted a part, the
// rest is left to a writer, unless too many bytes wait, which ends the connection; if it accepted nothing, everything is.
func (c *Conn) writeNowLocked(last ...Frame) (all bool) {
	buffer := c.shared.buffers.Get()
	defer c.shared.buffers.Put(buffer)
	ending := false
	b := (*buffer)[:0]
	for _, frames := range [...][]Frame{c.queue, last} {
		for i := range frames {
			b = frames[i].appendTo(b)
			ending = frames[i].Kind == websocket.CloseMessage
		}
	}
	*buffer = b
	n := c.direct.write(b)
	if n == 0 {
		return false
	}
	c.dropLocked()
	c.roomLocked()
	if n < len(b) {
		if !c.account.Set(len(b) - n) {
			c.shared.SlowConsumers.Add(1)
			c.abortLocked() // the rest would be kept until its write fails; nothing can be sent after a part of a frame
			return true
		}
		c.rest, c.restEnds, c.counted = bytes.Clone(b[n:]), ending, len(b)-n
		return false
	}
	if ending {
		c.closeSentLocked()
	}
	return true
}

// Close sends what is queued and then the close frame, and aborts after a timeout. The
// first call decides the code.
func (c *Conn) Close(code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.closeLocked(code, reason)
	}
}

// Refuse is Close because of what the client has sent.
func (c *Conn) Refuse(code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuseLocked(code, reason)
}

func (c *Conn) refuseLocked(code int, reason string) {
	if !c.closing {
		c.refused = true
		c.closeLocked(code, reason)
	}
}

// Refused reports whether the connection closes because of what the client has sent.
func (c *Conn) Refused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

func (c *Conn) closeLocked(code int, reason string) {
	c.closing = true
	c.closeBy = time.Now().Add(closeWait)
	c.pushLocked(Frame{Kind: websocket.CloseMessage, Data: websocket.FormatCloseMessage(code, truncateReason(reason))}, false)
	c.cancel()
}

// closeSentLocked notes that the close frame was written. The client answers with one of
// its own. Until then its messages are read and dropped: closing a socket with unread data
// resets the connection, and the client might never see the code.
func (c *Conn) closeSentLocked() {
	if c.readDone {
		c.closeSocketLocked() // the handshake is complete
		return
	}
	_ = c.ws.SetReadDeadline(time.Now().Add(lingerWait))
}

// truncateReason cuts a close reason to the length that a close frame holds.
func truncateReason(reason string) string {
	if len(reason) <= maxCloseReason {
		return reason
	}
	cut := maxCloseReason
	for !utf8.RuneStart(reason[cut]) {
		cut--
	}
	return reason[:cut]
}

// Abort closes the connection at once, without a close frame. It may be called again.
func (c *Conn) Abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abortLocked()
}

func (c *Conn) abortLocked() {
	c.closing = true
	c.closeSocketLocked()
	c.cancel()
}

// closeSocketLocked closes the socket. Its descriptor may then belong to another file.
func (c *Conn) closeSocketLocked() {
	c.direct = noDirectWriter
	c.rest, c.inWrite = nil, 0
	c.dropLocked()
	_ = c.ws.Close() // the connection is given up anyway
}

// Tick sends a ping when one is due. For a client that is gone, it reports false, and the connection has to be aborted: nothing is queued any more.
func (c *Conn) Tick(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
	case now.Sub(c.heardAt) >= c.shared.PingEvery+c.shared.PongWait,
		!c.arriving.IsZero() && now.Sub(c.arriving) >= c.shared.MessageWait: // pongs between the fragments of a message would keep its memory for ever
		c.closing = true
		return false
	case !now.Before(c.pingAt):
		c.pingAt = now.Add(c.shared.PingEvery)
		c.asked = true
		c.pushLocked(Frame{Kind: websocket.PingMessage}, false)
	}
	return true
}

// answered reports whether a pong is the first one after a ping of the server.
func (c *Conn) answered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = false
	return asked
}

// QueuedBytes returns how many bytes wait for the reader.
func (c *Conn) QueuedBytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waitingLocked()
}

// Room returns nil if at most half of the queue is full, else a channel that is closed when it is.
func (c *Conn) Room() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing || c.queued <= c.shared.QueueBytes/2 {
		return nil
	}
	if c.room == nil {
		c.room = make(chan struct{})
	}
	return c.room
}
