package wsconn

import (
	"bufio"
	"errors"
	"io"
	"math"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
)

// A message may take freeWireBytes on the wire, and wirePerByte more for each byte of its text. Otherwise a client could keep a core
// busy with the headers of empty frames, which are free, because only text has a price.
const (
	freeWireBytes = 2 << 10
	wirePerByte   = 2
)

var errTooManyFrames = errors.New("a message has too many frames for its length")

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
	counted := &wire{Conn: conn, allowed: freeWireBytes}
	if buffers.Reader.Buffered() == 0 { // otherwise the upgrade fails
		buffers.Reader.Reset(counted)
	}
	return counted, buffers, nil
}

// wire is a connection that bounds the bytes of a message. One goroutine reads.
type wire struct {
	net.Conn
	received, allowed int // bytes since the message began
}

// Read implements [net.Conn].
func (w *wire) Read(b []byte) (int, error) {
	if w.received > w.allowed {
		return 0, errTooManyFrames
	}
	n, err := w.Conn.Read(b)
	w.received += n
	return n, err
}

// begin is called before a message is read. On a connection that is closing, messages are dropped without a bound on their bytes: the time
// of closing is bounded, and the client has to receive the close frame.
func (w *wire) begin(dropped bool) {
	w.received, w.allowed = 0, freeWireBytes
	if dropped {
		w.allowed = math.MaxInt / 2
	}
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
