package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"retwis/internal/cost"
)

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"":                     false,
		"br, zstd":             false,
		"gzip":                 true,
		"deflate, GZIP;q=0.5":  true,
		"gzip;q=0":             false,
		"gzip; q=0.0, br":      false,
		"gzip;q=broken":        false,
		"x-gzip, gzipped, br ": false,
	} {
		if got := acceptsGzip(&http.Request{Header: http.Header{"Accept-Encoding": {header}}}); got != want {
			t.Errorf("%q: got %t, want %t", header, got, want)
		}
	}
}

// Attack: responses of 400 KB were compressed for 10 ms without a pause, after the operations of their clients had ended.
func TestGzipWriters_CompressLongBodiesInTurn(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789"), compressAtOnce)
	for _, tt := range []struct {
		body  []byte
		turns int
	}{{long, 10}, {long[:compressAtOnce+1], 2}, {long[:compressAtOnce], 0}, {long[:compressFrom], 0}} {
		var writers gzipWriters
		turns := 0
		compressed, err := writers.append([]byte("before"), tt.body, func() *cost.Turn { turns++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if turns != tt.turns {
			t.Errorf("%d bytes were compressed in %d turns, want %d", len(tt.body), turns, tt.turns)
		}
		r, err := gzip.NewReader(bytes.NewReader(bytes.TrimPrefix(compressed, []byte("before"))))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(r); err != nil || !bytes.Equal(plain, tt.body) {
			t.Errorf("%d bytes differ after compression: %v", len(tt.body), err)
		}
	}
}
