package gqlws_test

import (
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// messageWait is the time in which a message must arrive.
const messageWait = 20 * time.Second

func TestSlowConsumer_IsDisconnected(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		stalled, other := h.Ready(""), h.Ready("")
		stalled.Subscribe("1", servertest.FeedA)
		other.Subscribe("1", servertest.FeedB)
		synctest.Wait()
		event := strings.Repeat("x", 10_000)
		sent := 0
		for open := true; open && sent < 1000; {
			select {
			case h.Backend.Topic("a") <- event:
				sent++
				synctest.Wait()
				h.Backend.Topic("b") <- "on time"
				other.Expect(`{"type":"next","payload":{"data":{"feed":"on time"}},"id":"1"}`)
			default:
				open = false // the subscription is over
			}
		}
		if sent < 100 || sent > 110 {
			h.Errorf("disconnected after %d events of 10 kB, want about 1 MB", sent)
		}
		if n := h.Backend.Subscriptions(); n != 1 {
			h.Errorf("%d subscriptions are open, want only that of the other client", n)
		}
		// The rest of the partly sent message arrives, then the close reason.
		stalled.ExpectClose(1013)
		other.ExpectAlive()
	})
}

func TestSlowConsumer_DoesNotKeepTheSocket(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", `{ blob(size: 100000) }`)
		// A pipe has no buffer, so the first write blocks until its deadline.
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if n := h.Server.Stats().Clients; n != 0 {
			h.Errorf("%d sockets are open", n)
		}
	})
}

func TestSlowConsumer_UsesBoundedMemory(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
		if err != nil {
			h.Fatal(err)
		}
		defer conn.Close()
		c := h.SocketOn(conn)
		c.Send(`{"type":"connection_init"}`)
		c.Expect(`{"type":"connection_ack"}`)
		c.Subscribe("1", servertest.FeedA)

		before := heap()
		event := strings.Repeat("x", 50_000)
		sent := 0
		poll := time.NewTicker(5 * time.Millisecond)
		defer poll.Stop()
		servertest.Within(t, func() bool { return h.Backend.Subscriptions() > 0 }, func() { h.Fatal("the subscription does not start") })
		for h.Backend.Subscriptions() > 0 {
			select {
			case h.Backend.Topic("a") <- event:
				sent++
			case <-poll.C:
			}
			if sent > 10_000 {
				h.Fatal("the slow consumer is not disconnected")
			}
		}
		var grown int64 // without the events that are still being rendered
		servertest.Within(t, func() bool { grown = heap() - before; return grown <= 4<<20 }, func() {
			h.Errorf("%d events for a slow consumer use %d bytes", sent, grown)
		})
		c.ExpectClose(1013)
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestSocket_SendsAResponseLargerThanTheQueue(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", `{ blob(size: 3000000) }`)
		if got := len(c.Read()); got < 3_000_000 {
			h.Errorf("got %d bytes", got)
		}
		c.Expect(`{"type":"complete","id":"1"}`)
	})
}

func TestSlowConsumer_PingsAreBounded(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		ping := `{"type":"ping","payload":{"a":"` + strings.Repeat("x", 100) + `"}}`
		var err error
		for range 2000 {
			if err = c.WS.WriteMessage(websocket.TextMessage, []byte(ping)); err != nil {
				break
			}
		}
		synctest.Wait()
		if err == nil {
			c.ExpectClose(1008)
		}
	})
}

// The events of a render group are queued for a slow consumer until it is disconnected. The
// other members of the group receive them meanwhile.
func TestSlowConsumer_DoesNotDelayItsRenderGroup(t *testing.T) {
	servertest.OnTCP(t, func(o *server.Options) { o.DrainTime = time.Millisecond }, func(h *servertest.Harness) {
		stopped, quick := h.Ready(""), h.Ready("")
		stopped.Subscribe("s", servertest.News)
		stopped.Expect(servertest.Next("s", "caught up", "start", "0"))
		quick.Subscribe("s", servertest.News)
		quick.Expect(servertest.Next("s", "caught up", "start", "0"))
		text := strings.Repeat("x", 100_000)
		for post := retwis.PostID(1); h.Server.Stats().Clients == 2; post++ {
			if post > 1000 {
				t.Fatal("the slow consumer is not disconnected")
			}
			h.Backend.Timelines.Publish("news", post, text)
			if got := quick.Read(); got != servertest.Next("s", text, "cursor1-"+post.String(), "0") &&
				got != servertest.Next("s", text, "c0-"+post.String(), "0") { // the only subscriber after the other one has left
				t.Fatalf("post %d arrived as %d bytes: %.100s", post, len(got), got)
			}
			if h.Backend.Timelines.Subscribers("news") == 1 {
				break
			}
		}
	})
}

// A message whose last fragment is missing would occupy its memory for as long as pongs between the
// fragments keep the connection alive.
func TestSocket_BoundsTheTimeOfAMessage(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		go func() { // answers pings
			for {
				if _, _, err := c.WS.ReadMessage(); err != nil {
					return
				}
			}
		}()
		c.Send(`{"type":"ping"}`)
		time.Sleep(2 * messageWait) // without incoming messages
		start := time.Now()
		w, err := c.WS.NextWriter(websocket.TextMessage)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, 100<<10)); err != nil { // sent in fragments
			t.Fatal(err)
		}
		for err == nil && time.Since(start) < 10*messageWait {
			time.Sleep(time.Second)
			err = c.WS.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second))
		}
		if took := time.Since(start); took < messageWait || took > messageWait+5*time.Second {
			t.Errorf("disconnected after %s: %v", took, err)
		}
	})
}
