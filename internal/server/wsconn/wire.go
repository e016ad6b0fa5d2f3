package wsconn

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"

	"github.com/gorilla/websocket"
)

// A message may take freeWireBytes on the wire, and wirePerByte more for each byte of its text. Otherwise a client could keep a core
// busy with the headers of empty frames, which are free, because only text has a price.
const (
	freeWireBytes = 2 << 10
	wirePerByte   = 2
)

var (
	errTooManyFrames = errors.New("a message has too many frames for its length")
	errUnpaid        = errors.New("the rate limit is used up")
)

// Upgrade upgrades a request to a websocket for [New].
func Upgrade(upgrader *websocket.Upgrader, w http.ResponseWriter, r *http.Request, header http.Header) (*websocket.Conn, error) {
	return upgrader.Upgrade(wiring{w}, r, header)
}

// wiring is a response writer whose connection becomes a [wire].
type wiring struct{ http.ResponseWriter }

// Hijack implements [http.Hijacker].
func (w wiring) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	counted := newWire(conn)
	if buffers.Reader.Buffered() == 0 { // otherwise the upgrade fails
		buffers.Reader.Reset(counted)
	}
	return counted, buffers, nil
}

// Metered is a connection that accounts for its reads. A wire reads from the connection below it, and accounts for a read before the next one:
// an idle reader that is one call deeper, or keeps more in its frame, has a stack of 8 KB in place of 4, because Go halves a stack only if
// less than a quarter of it is used.
type Metered interface {
	net.Conn
	// Below returns the connection that this one reads from.
	Below() net.Conn
	// AccountFor accounts for a read of n bytes, with room for more.
	AccountFor(n, room int)
	// Pause waits until the next read may begin.
	Pause()
}

// wire is a connection that bounds the bytes of a message. One goroutine reads.
type wire struct {
	net.Conn
	below             net.Conn             // to read from
	meter             Metered              // nil if the connection is not metered
	last, room        int                  // of the last read
	received, allowed int                  // bytes since the message began
	pay               func(bytes int) bool // for compressed bytes; nil if messages are not compressed
	dropping          bool                 // whether messages are dropped
	before            func()               // called before the next read; nil if nothing is to be done
	socket            syscall.RawConn      // of below; nil if that cannot tell whether bytes have arrived, as with TLS
	arrived           func(uintptr) bool   // whether bytes have arrived at the socket; otherwise it ends the turn, because the connection waits
	line              *sync.Mutex          // see [Conn.ReadInLine]; nil without one
	inLine            bool                 // whether this connection holds the line
	turns             Turns                // of reads, too; nil if they do not wait
	turn              func()               // ends the turn of what was read last; nil without one
}

func newWire(conn net.Conn) *wire {
	w := &wire{Conn: conn, below: conn, allowed: freeWireBytes}
	if meter, ok := conn.(Metered); ok {
		w.below, w.meter = meter.Below(), meter
	}
	w.socket = socketOf(w.below)
	w.arrived = func(socket uintptr) bool {
		if hasArrived(socket) {
			return true
		}
		w.endTurn()
		return false
	}
	return w
}

// Read implements [net.Conn].
func (w *wire) Read(b []byte) (int, error) {
	if err := w.accountForLast(); err != nil {
		return 0, err
	}
	if w.line != nil && w.socket != nil {
		_ = w.socket.Read(w.arrived) // it fails as the read does
		if w.turn == nil {
			w.enterLine()
		}
	}
	w.room = len(b)
	n, err := w.below.Read(b)
	w.received += n
	w.last = n
	return n, err //nolint:wrapcheck // a method of the connection
}

// accountForLast accounts for the last read. Its frame must not be part of that of Read: see [Metered].
//
//go:noinline
func (w *wire) accountForLast() error {
	if w.before != nil {
		w.before()
		w.before = nil
	}
	w.leaveLine() // the connection may pause
	if w.received > w.allowed {
		return errTooManyFrames
	}
	if w.pay != nil && w.last > 0 && !w.pay(w.last) {
		return errUnpaid
	}
	if w.meter != nil {
		w.meter.AccountFor(w.last, w.room)
		w.meter.Pause()
	}
	return nil
}

// enterLine waits until the connection is the first of its line, and then for a turn.
//
//go:noinline
func (w *wire) enterLine() {
	w.line.Lock()
	w.inLine = true
	w.takeTurn()
}

// leaveLine lets others of the line read.
func (w *wire) leaveLine() {
	if w.inLine {
		w.inLine = false
		w.line.Unlock()
	}
}

// takeTurn takes a turn, unless there is one since the last read.
func (w *wire) takeTurn() {
	if w.turn == nil && w.turns != nil {
		w.turn = w.turns.Turn()
	}
}

// takeTurnFor takes a turn to handle a message. A large one needs one of its own: those of its reads may have ended.
func (w *wire) takeTurnFor(bytes int, large bool) {
	if w.turns == nil || !large {
		w.takeTurn()
		return
	}
	w.endTurn()
	w.turn = w.turns.TurnFor(bytes)
}

// endTurn ends the turn of what was read last.
func (w *wire) endTurn() {
	w.leaveLine()
	if w.turn != nil {
		w.turn()
		w.turn = nil
	}
}

// begin is called before a message is read. On a connection that is closing, messages are dropped. All of them together may take
// freeWireBytes, because frames are free. The rest is discarded without looking for frames.
func (w *wire) begin(dropped bool) {
	if dropped && w.dropping {
		return
	}
	w.received, w.allowed, w.dropping = 0, freeWireBytes, dropped
}

// control is called with the length of each ping or pong, whose number has a limit of its own.
func (w *wire) control(length int) { w.allowed += length + freeOfControl }

// freeOfControl is the length of the longest header of a control frame.
const freeOfControl = 14

// text returns a reader of a message's text that allows more bytes as the text arrives.
func (w *wire) text(r io.Reader) io.Reader { return &wireText{w, r} }

type wireText struct {
	wire *wire
	text io.Reader
}

// Read implements [io.Reader].
func (t *wireText) Read(b []byte) (int, error) {
	n, err := t.text.Read(b)
	t.wire.allowed += wirePerByte * n
	return n, err
}
