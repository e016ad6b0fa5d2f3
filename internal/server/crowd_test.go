package server

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

// Clients come, subscribe, and go: some with a close frame, some without a word, some
// before they have said who they are.
func TestNothingIsLeftOfManyConnections(t *testing.T) {
	onTCP(t, func(o *Options) { o.DrainTime = time.Millisecond }, func(h *harness) {
		h.ready("").alive() // what is started once is started
		before := runtime.NumGoroutine()
		var wg sync.WaitGroup
		for worker := range 32 {
			wg.Go(func() {
				for i := range redistest.Size(2_000, 10_000) / 32 {
					h.comeAndGo(worker + i)
				}
			})
		}
		wg.Wait()
		within(t, func() bool {
			stats := h.server.Stats()
			return stats.Clients == 1 && stats.Classes == 0 && h.backend.timelines.subscribers("news") == 0 && runtime.NumGoroutine() <= before+4
		}, func() {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%+v and %d goroutines are left, %d before:\n%s", h.server.Stats(), runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		})
	})
}

func (h *harness) comeAndGo(i int) {
	ws, _, err := h.upgrade()
	if err != nil {
		h.Error(err)
		return
	}
	defer ws.Close()
	if i%8 == 0 {
		return
	}
	for _, text := range []string{
		`{"type":"connection_init"}`,
		`{"type":"subscribe","id":"a","payload":{"query":"` + watchNews + `"}}`,
		`{"type":"subscribe","id":"b","payload":{"query":"` + watchMine + `"}}`,
	} {
		if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			h.Error(err)
			return
		}
	}
	if i%8 == 1 {
		return
	}
	for range 3 {
		if _, _, err := ws.ReadMessage(); err != nil {
			h.Error(err)
			return
		}
	}
	if i%2 == 0 {
		h.backend.timelines.publish("news", retwis.PostID(i), "post")
		_ = ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
		for err == nil {
			_, _, err = ws.ReadMessage()
		}
	}
}

// within waits for a condition, a minute at most.
func within(t *testing.T, holds func() bool, otherwise func()) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			otherwise()
		}
	}
}

// A reader that stops has its share of a class's events queued, and then is cut off. The
// others of the class get theirs meanwhile.
func TestAReaderThatStopsDelaysNobodyOfItsClass(t *testing.T) {
	onTCP(t, func(o *Options) { o.DrainTime = time.Millisecond }, func(h *harness) {
		stopped, quick := h.ready(""), h.ready("")
		stopped.watch("s", watchNews)
		stopped.expect(happened("s", "caught up", "start", "0"))
		quick.watch("s", watchNews)
		quick.expect(happened("s", "caught up", "start", "0"))
		text := strings.Repeat("x", 100_000)
		for post := retwis.PostID(1); h.server.Stats().Clients == 2; post++ {
			if post > 1000 {
				t.Fatal("the reader is not cut off")
			}
			h.backend.timelines.publish("news", post, text)
			if got := quick.read(); got != happened("s", text, "cursor1-"+post.String(), "0") &&
				got != happened("s", text, "c0-"+post.String(), "0") { // first of the subscribers, once the other has left
				t.Fatalf("post %d came as %d bytes: %.100s", post, len(got), got)
			}
			if h.backend.timelines.subscribers("news") == 1 {
				break
			}
		}
	})
}
