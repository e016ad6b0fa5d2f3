package server

import (
	"encoding/binary"
	"sync"

	"retwis/internal/retwis"
)

const (
	frameOverhead = 64       // what a queued frame costs besides its bytes
	batchBytes    = 32 << 10 // that are written at once
	keptBuffer    = 64 << 10 // the largest buffer that is used again
)

// frame is a websocket message on its way out. An event that others get too is kept as
// what is shared, and put together when it is written.
type frame struct {
	kind   int    // a message type of package websocket
	data   []byte // the message, or of a shared one the operation's id as JSON
	shared *rendered
	cursor retwis.Cursor
}

const (
	nextHead = `{"type":"next","payload":`
	idHead   = `,"id":`
)

func (f frame) length() int {
	if f.shared == nil {
		return len(f.data)
	}
	return len(nextHead) + f.shared.length(f.cursor) + len(idHead) + len(f.data) + 1
}

func (f frame) cost() int { return f.length() + frameOverhead }

func (f frame) appendMessage(b []byte) []byte {
	if f.shared == nil {
		return append(b, f.data...)
	}
	b = append(b, nextHead...)
	b = f.shared.appendTo(b, f.cursor)
	return appendID(b, f.data)
}

// appendTo appends the frame as it goes over the wire: whole, and not masked, as a
// server's are.
func (f frame) appendTo(b []byte) []byte {
	const final = 0x80
	b = append(b, final|byte(f.kind))
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

// buffers are for what is being written.
type buffers struct{ pool sync.Pool }

func (p *buffers) get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 4<<10)
	return &b
}

func (p *buffers) put(b *[]byte) {
	if cap(*b) <= keptBuffer {
		*b = (*b)[:0]
		p.pool.Put(b)
	}
}
