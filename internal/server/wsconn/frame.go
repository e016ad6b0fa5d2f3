package wsconn

import "encoding/binary"

const (
	frameOverhead = 64       // what a queued frame costs besides its bytes
	batchBytes    = 32 << 10 // that are written at once
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
	const final = 0x80
	b = append(b, final|byte(f.Kind))
	switch n := f.length(); {
	case n < 126:
		b = append(b, byte(n))
	case n <= 0xffff:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return f.appendMessage(b)
}
