// Package deflate compresses what clients receive. A compressor takes 1.2 MB, so one is in use only while a part of a text is compressed, and
// never while something is waited for.
package deflate

import (
	"compress/flate"
	"sync"
)

// partSize is how many bytes of a text are compressed at once. That takes about 0.3 ms. No part refers to those before it, so that no compressor has to
// remember them: long texts get 4% longer. With parts of half the size, it is 8%, and a fifth more time.
const partSize = 32 << 10

// Tail is how a compressed text ends.
const Tail = "\x00\x00\xff\xff"

// Compressors compress texts in the format of RFC 1951, which gzip and websockets use. They are reused. The zero value is ready for use.
type Compressors struct{ pool sync.Pool }

// Append appends the compressed text to dst: blocks of which none is the last one, and [Tail]. It calls begin before each part, which waits until that
// may be compressed, and the returned function afterwards. Append fails like begin.
func (c *Compressors) Append(dst, text []byte, begin func() (done func(), err error)) ([]byte, error) {
	for {
		part := text[:min(len(text), partSize)]
		text = text[len(part):]
		var err error
		if dst, err = c.appendPart(dst, part, begin); err != nil || len(text) == 0 {
			return dst, err
		}
	}
}

func (c *Compressors) appendPart(dst, part []byte, begin func() (done func(), err error)) ([]byte, error) {
	done, err := begin()
	if err != nil {
		return nil, err
	}
	defer done()
	p, ok := c.pool.Get().(*compressor)
	if !ok {
		p = newCompressor()
	}
	defer c.pool.Put(p)
	return p.append(dst, part), nil
}

// compressor compresses one part at a time.
type compressor struct {
	out   []byte
	flate *flate.Writer // writes to out
}

// newCompressor returns a compressor that prefers speed: the best compression takes five times as long and saves a twentieth.
func newCompressor() *compressor {
	c := &compressor{}
	c.flate, _ = flate.NewWriter(c, flate.BestSpeed) // the level is valid
	return c
}

func (c *compressor) append(dst, part []byte) []byte {
	c.out = dst
	c.flate.Reset(c)
	_, _ = c.flate.Write(part) // neither of them fails, because Write does not
	_ = c.flate.Flush()
	dst, c.out = c.out, nil // the pool does not keep it
	return dst
}

// Write implements [io.Writer] for the compressed bytes.
func (c *compressor) Write(b []byte) (int, error) {
	c.out = append(c.out, b...)
	return len(b), nil
}
