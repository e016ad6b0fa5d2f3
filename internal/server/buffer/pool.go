// Package buffer reuses the byte slices that output is assembled in.
package buffer

import "sync"

const (
	initialSize = 4 << 10
	maxKept     = 64 << 10 // the largest buffer that is used again
)

// Pool is a set of buffers. The zero value is empty and ready for use.
type Pool struct{ pool sync.Pool }

// Get returns an empty buffer.
func (p *Pool) Get() *[]byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, initialSize)
	return &b
}

// Put returns a buffer to the pool.
func (p *Pool) Put(b *[]byte) {
	if cap(*b) <= maxKept {
		*b = (*b)[:0]
		p.pool.Put(b)
	}
}
