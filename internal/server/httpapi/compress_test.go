package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/cost"
	"retwis/internal/server/clients"
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
func TestCompress_TakesTurnsForLongBodies(t *testing.T) {
	t.Parallel()
	for length, waits := range map[int]bool{400 << 10: true, turnFrom: true, turnFrom - 1: false, compressFrom: false} {
		synctest.Test(t, func(t *testing.T) {
			x, _ := exchange(t.Context(), New(Options{Shares: cost.NewShares()}))
			body := bytes.Repeat([]byte("0123456789"), length)[:length]
			end := occupyTurns(t, x)
			compressed := make(chan []byte, 1)
			go func() {
				got, err := x.compress([]byte("before"), body)
				if err != nil {
					t.Error(err)
				}
				compressed <- got
			}()
			synctest.Wait()
			if got := len(compressed) == 0; got != waits {
				t.Errorf("the compression of %d bytes waits for a turn: %t", length, got)
			}
			end()
			if plain := unzip(t, bytes.TrimPrefix(<-compressed, []byte("before"))); !bytes.Equal(plain, body) {
				t.Errorf("%d bytes differ after compression", length)
			}
		})
	}
}

// Attack: a thousand connections of a network read pages of 17 KB. Their responses waited for turns of compression, each with a compressor of 1.2 MB.
func TestCompress_HoldsNoCompressorWhileItWaits(t *testing.T) { //nolint:paralleltest // it measures memory
	const most = 100
	synctest.Test(t, func(t *testing.T) {
		api := New(Options{Shares: cost.NewShares()})
		ctx, leave := context.WithCancel(t.Context())
		data, _ := json.Marshal(strings.Repeat("0123456789", 4<<10)) // a string always has a JSON encoding
		left, replied := make(chan *httptest.ResponseRecorder, most), make(chan *httptest.ResponseRecorder, most)
		before := heap()
		first, _ := exchange(ctx, api)
		end := occupyTurns(t, first)
		for range most {
			for ctx, replied := range map[context.Context]chan *httptest.ResponseRecorder{ctx: left, t.Context(): replied} {
				x, w := exchange(ctx, api)
				go func() {
					x.reply(http.StatusOK, mediaJSON, &graphql.Response{Data: data})
					replied <- w
				}()
			}
		}
		synctest.Wait()
		occupied := make(chan func())
		go func() { occupied <- occupyTurns(t, first) }()
		synctest.Wait()
		end()
		end = <-occupied // after the first turn of each response
		synctest.Wait()
		if len(left)+len(replied) > 0 {
			t.Errorf("%d responses were compressed in one turn", len(left)+len(replied))
		}
		if grown := heap() - before; grown > 2*most*200<<10 {
			t.Errorf("%d responses that wait take %d bytes each", 2*most, grown/(2*most))
		}
		leave()
		synctest.Wait()
		if len(left) != most {
			t.Errorf("%d responses wait for turns although their clients have left", most-len(left))
		}
		end()
		for range most {
			w := <-replied
			if w.Header().Get("Content-Encoding") != "gzip" || !bytes.Contains(unzip(t, w.Body.Bytes()), data) {
				t.Fatalf("got the headers %v", w.Header())
			}
		}
	})
}

// exchange returns the exchange of a request that accepts gzip, and its response.
func exchange(ctx context.Context, api *API) (*Exchange, *httptest.ResponseRecorder) {
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/graphql", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	return api.Begin(w, r), w
}

// occupyTurns takes all turns of the network of a request.
func occupyTurns(t *testing.T, x *Exchange) (end func()) {
	t.Helper()
	var ends []func()
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		done, err := x.api.Shares.Hash(t.Context(), clients.ClientOf(x.R.Context()))
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, done)
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

func unzip(t *testing.T, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
