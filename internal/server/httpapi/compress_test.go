package httpapi

import (
	"net/http"
	"testing"
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
