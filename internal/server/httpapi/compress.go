package httpapi

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"
	"sync"

	"retwis/internal/cost"
)

// compressFrom is the size in bytes from which a response is compressed. Shorter ones fit
// into a packet anyway.
const compressFrom = 1024

// compressAtOnce is how many bytes of a response are compressed in one turn. That takes about 0.3 ms.
const compressAtOnce = 16 << 10

// gzipWriters are reused: a new one allocates hundreds of kilobytes.
type gzipWriters struct{ pool sync.Pool }

// append appends the compressed body to dst. It prefers speed: the best compression takes
// five times as long and saves a twentieth. Of a long body, it compresses each part in a turn.
func (g *gzipWriters) append(dst, body []byte, takeTurn func() *cost.Turn) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	w, ok := g.pool.Get().(*gzip.Writer)
	if !ok {
		w, _ = gzip.NewWriterLevel(out, gzip.BestSpeed) // the level is valid
	}
	defer g.pool.Put(w)
	w.Reset(out)
	for part := range slices.Chunk(body, compressAtOnce) {
		var turn *cost.Turn
		if len(body) > compressAtOnce {
			turn = takeTurn()
		}
		_, err := w.Write(part)
		turn.End()
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
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
