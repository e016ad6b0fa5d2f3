package gqlsse

import (
	"net/http/httptest"
	"testing"
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
	s := newStream(t.Context(), New(Options{QueueBytes: 1 << 20, WriteWait: time.Second}), w, func() {})
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
