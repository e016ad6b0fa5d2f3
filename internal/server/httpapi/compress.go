package httpapi

import (
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"strings"

	"retwis/internal/auth"
	"retwis/internal/server/clients"
	"retwis/internal/server/deflate"
)

// compressFrom is the size in bytes from which a response is compressed. Shorter ones fit
// into a packet anyway.
const compressFrom = 1024

// turnFrom is the size in bytes from which the compression of a response takes turns: it takes as long as a message.
const turnFrom = 16<<10 + 1

// A gzip file consists of a header, compressed blocks and a trailer.
const (
	gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff" // without a name and a time; compressed fast, by an unknown system
	lastBlock  = "\x03\x00"                                 // an empty one
)

// compress appends the compressed body to dst. It waits for its turns, and fails if the client leaves meanwhile.
func (x *Exchange) compress(dst, body []byte) ([]byte, error) {
	begin := x.api.Shares.Compress
	if len(body) < turnFrom {
		begin = x.api.Shares.CompressShort
	}
	ctx := x.R.Context()
	client := clients.ClientOf(auth.WithIdentity(ctx, x.viewer))
	return appendGzip(&x.api.compressors, dst, body, func() (done func(), err error) { return begin(ctx, client) })
}

// appendGzip appends the compressed body to dst in the format of RFC 1952. It calls begin before each part, and fails like that: see
// [deflate.Compressors.Append].
func appendGzip(c *deflate.Compressors, dst, body []byte, begin func() (done func(), err error)) ([]byte, error) {
	dst, err := c.Append(append(dst, gzipHeader...), body, begin)
	if err != nil {
		return nil, err
	}
	dst = append(dst, lastBlock...)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(body))
	return binary.LittleEndian.AppendUint32(dst, uint32(len(body))), nil
}

// compresses reports whether the response is sent compressed. A response with a session's
// token is not: the length of a compressed response reveals whether texts in it repeat, and
// a client chooses some of these texts, like aliases (BREACH).
func (x *Exchange) compresses(body []byte) bool {
	return len(body) >= compressFrom && !x.jar.holdsToken() && acceptsGzip(x.R)
}

// acceptsGzip reports whether a client accepts responses in gzip.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		coding, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		_, weight, weighted := strings.Cut(params, "=")
		q, ok := parseQuality(strings.TrimSpace(weight))
		return !weighted || (ok && q > 0)
	}
	return false
}
