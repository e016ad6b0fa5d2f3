package wsconn

import (
	"encoding/binary"

	"github.com/gorilla/websocket"

	"retwis/internal/server/deflate"
)

const (
	frameOverhead = 64       // what a queued frame costs besides its bytes
	batchBytes    = 32 << 10 // that are written at once
)

// The first byte of a frame has its type and these bits. Its length follows.
const (
	final      = 0x80
	compressed = 0x40 // RSV1 of RFC 6455
	maxHeader  = 10   // bytes
)

// Body is a payload shared by many connections, into which a text of each connection is inserted.
type Body interface {
	Len(insert string) int
	AppendTo(b []byte, insert string) []byte
}

// Frame is an outgoing message. A shared message is assembled when it is written.
type Frame struct {
	Kind   int    // a message type of gorilla's package websocket
	Data   []byte // the message; of a shared one what follows the body
	Head   string // of a shared message, what precedes the body
	Body   Body   // nil if the message is not shared
	Insert string
}

func (f *Frame) length() int {
	if f.Body == nil {
		return len(f.Data)
	}
	return len(f.Head) + f.Body.Len(f.Insert) + len(f.Data)
}

func (f *Frame) cost() int { return f.length() + frameOverhead }

func (f *Frame) appendMessage(b []byte) []byte {
	if f.Body != nil {
		b = append(b, f.Head...)
		b = f.Body.AppendTo(b, f.Insert)
	}
	return append(b, f.Data...)
}

// appendTo appends the frame in its encoding by RFC 6455: unfragmented and, as a server's
// frames are, not masked.
func (f *Frame) appendTo(b []byte) []byte {
	return f.appendMessage(appendHeader(b, byte(f.Kind), f.length()))
}

// completeCompressed returns the frame of a text by RFC 7692. The compressed text follows maxHeader free bytes.
func completeCompressed(b []byte) []byte {
	b = b[:len(b)-len(deflate.Tail)] // the receiver adds it
	var space [maxHeader]byte
	header := appendHeader(space[:0], compressed|websocket.TextMessage, len(b)-maxHeader)
	b = b[maxHeader-len(header):]
	copy(b, header)
	return b
}

// appendHeader appends the header of a frame of n bytes.
func appendHeader(b []byte, kind byte, n int) []byte {
	b = append(b, final|kind)
	switch {
	case n < 126:
		return append(b, byte(n))
	case n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		return binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
}
