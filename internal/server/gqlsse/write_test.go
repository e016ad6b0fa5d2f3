package gqlsse

import (
	"context"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
)

// Attack: 950 event streams received an event of 2 MB each, and read it. Each of them kept a buffer of this size, which nothing counted, and what had
// been read still counted as waiting until the next event.
func TestStream_CountsWhatWaitsAndNothingElse(t *testing.T) {
	t.Parallel()
	shares := cost.NewShares()
	w := httptest.NewRecorder()
	s := newStream(t.Context(), New(Options{QueueBytes: 1 << 20, WriteWait: time.Second, Shares: shares}), w, func() {})
	s.setAccount(shares.Account(ratelimit.Client{User: 7}))
	const size = 1 << 20
	s.push(event{text: make([]byte, size)})
	if used, queued := shares.Bytes.Used(), s.QueuedBytes(); used < size || queued < size {
		t.Errorf("%d bytes are counted, %d queued, before they are written", used, queued)
	}
	if !s.writeQueue() || w.Body.Len() != size {
		t.Errorf("%d bytes are written", w.Body.Len())
	}
	if used, queued := shares.Bytes.Used(), s.QueuedBytes(); used != 0 || queued != 0 {
		t.Errorf("%d bytes are counted, %d queued, after they were written", used, queued)
	}
	if s.push(event{text: make([]byte, size)}); s.closed {
		t.Error("the next event does not fit")
	}
}

// Attack: an event woke 950 event streams of one client, which wrote on all cores at once. Requests that arrived meanwhile waited until the last
// one had written.
func TestStream_WritesOnHalfOfTheCores(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const streams, took = 100, 30 * time.Microsecond
		h := New(Options{QueueBytes: 1 << 20, WriteWait: time.Second, Shares: cost.NewShares()})
		ctx, cancel := context.WithCancel(t.Context())
		cores := max(1, runtime.GOMAXPROCS(0)/2)
		var writing atomic.Int32
		begin := func() (end func()) {
			if n := int(writing.Add(1)); n > cores {
				t.Errorf("%d streams write at once", n)
			}
			time.Sleep(took)
			return func() { writing.Add(-1) }
		}
		var all []*stream
		ended := make(chan struct{}, streams)
		for range streams {
			s := newStream(ctx, h, &watchedWriter{httptest.NewRecorder(), begin}, cancel)
			all = append(all, s)
			go func() {
				s.write(ctx)
				ended <- struct{}{}
			}()
		}
		time.Sleep(time.Second) // they have begun
		start := time.Now()
		for _, s := range all {
			s.push(event{text: []byte("event: next\ndata: {}\n\n")})
			s.close()
		}
		for range streams {
			<-ended
		}
		if elapsed, want := time.Since(start), streams*took/time.Duration(cores); elapsed > want+took {
			t.Errorf("%d streams needed %v, want %v", streams, elapsed, want)
		}
		cancel()
	})
}

// watchedWriter is the response of a stream.
type watchedWriter struct {
	*httptest.ResponseRecorder

	begin func() (end func()) // of a write
}

func (w *watchedWriter) Write(b []byte) (int, error) {
	defer w.begin()()
	return w.ResponseRecorder.Write(b) //nolint:wrapcheck // it never fails
}
