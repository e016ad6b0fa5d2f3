package gqlws_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// Clients connect, subscribe and leave: some with a close frame, some without, and some before
// they have authenticated.
func TestHandler_ReleasesAllConnections(t *testing.T) {
	servertest.OnTCP(t, func(o *server.Options) {
		o.DrainTime = time.Millisecond
		o.PingEvery = time.Hour // the first client does not answer pings and must stay connected
	}, func(h *servertest.Harness) {
		h.Ready("").ExpectAlive() // goroutines that start once are running
		before := runtime.NumGoroutine()
		var wg sync.WaitGroup
		for worker := range 32 {
			wg.Go(func() {
				for i := range redistest.Size(2_000, 10_000) / 32 {
					connectAndLeave(h, worker+i)
				}
			})
		}
		wg.Wait()
		servertest.Within(t, func() bool {
			stats := h.Server.Stats()
			return stats.Clients == 1 && stats.RenderGroups == 0 && h.Backend.Timelines.Subscribers("news") == 0 && runtime.NumGoroutine() <= before+4
		}, func() {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%+v and %d goroutines are left, %d before:\n%s", h.Server.Stats(), runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		})
	})
}

func connectAndLeave(h *servertest.Harness, i int) {
	ws, _, err := h.Upgrade()
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
		servertest.SubscribeMessage("a", servertest.News),
		servertest.SubscribeMessage("b", servertest.NewsMine),
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
		h.Backend.Timelines.Publish("news", retwis.PostID(i), "post")
		_ = ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
		for err == nil {
			_, _, err = ws.ReadMessage()
		}
	}
}
