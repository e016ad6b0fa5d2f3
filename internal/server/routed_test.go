package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

const (
	watchNews = `subscription { timeline(name: \"news\") { text cursor } }`
	watchMine = `subscription { timeline(name: \"news\") { text cursor mine } }`
)

func (c *wsClient) watch(id, query string) {
	c.t.Helper()
	c.send(`{"type":"subscribe","id":"` + id + `","payload":{"query":"` + query + `"}}`)
}

// happened is the message that tells of something.
func happened(id, text, cursor, viewer string) string {
	return fmt.Sprintf(`{"type":"next","payload":{"data":{"cursor":%q,"text":%q,"again":%q,"viewer":%q}},"id":%q}`,
		cursor, text, cursor, viewer, id)
}

func TestAnEventIsExecutedOnceForAll(t *testing.T) {
	onBoth(t, func(h *harness) {
		var clients []*wsClient
		for i := range 3 {
			c := h.ready(h.login(retwis.UserID(1025 + 1024*i)))
			c.watch("s", watchNews)
			c.expect(happened("s", "caught up", "start", "0"))
			clients = append(clients, c)
		}
		before := h.backend.timelines.executions()
		h.backend.timelines.publish("news", 7, "a \"post\"")
		h.backend.timelines.publish("news", 8, "another")
		for i, c := range clients {
			cursor := []string{"c0-", "cursor1-", "c2"}[i]
			c.expect(happened("s", "a \"post\"", cursor+"7", "0"), happened("s", "another", cursor+"8", "0"))
		}
		// Who comes later shares that they have caught up for as long as it is remembered.
		if got := h.backend.timelines.executions() - before; got != 2 || before < 1 || before > 3 {
			t.Errorf("%d executions for two posts, and %d for three who caught up", got, before)
		}
	})
}

// onBoth runs a test on pipes, where a writer writes, and on sockets, where whoever has
// a frame does.
func onBoth(t *testing.T, test func(*harness)) {
	t.Helper()
	t.Run("pipes", func(t *testing.T) { inBubble(t, nil, test) })
	for _, compressed := range []bool{false, true} {
		t.Run(fmt.Sprint("sockets, compressed ", compressed), func(t *testing.T) {
			onTCP(t, func(o *Options) { o.Compression, o.DrainTime = compressed, time.Millisecond }, test)
		})
	}
}

func TestWhatDependsOnTheViewerIsExecutedForEach(t *testing.T) {
	onBoth(t, func(h *harness) {
		alice, bob := h.login(1025), h.login(2049)
		var clients []*wsClient
		for _, token := range []string{alice, bob, alice, ""} {
			c := h.ready(token)
			c.watch("s", watchMine)
			clients = append(clients, c)
			viewer := map[string]string{alice: "1025", bob: "2049", "": "0"}[token]
			c.expect(happened("s", "caught up", "start", viewer))
		}
		before := h.backend.timelines.executions()
		h.backend.timelines.publish("news", 7, "post")
		for i, viewer := range []string{"1025", "2049", "1025", "0"} {
			clients[i].expect(happened("s", "post", []string{"c0-", "cursor1-", "c2"}[i%3]+"7", viewer))
		}
		if got := h.backend.timelines.executions() - before; got != 3 {
			t.Errorf("%d executions for three viewers", got)
		}
	})
}

func TestSubscribersAreCheckedOneByOne(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		query := `subscription { timeline(name: \"private\") { text } }`
		c := h.ready(h.login(1025))
		c.watch("s", query)
		c.expect(happened("s", "caught up", "start", "0"))
		stranger := h.ready("")
		stranger.watch("s", query)
		if got := stranger.read(); !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, "FORBIDDEN") {
			t.Errorf("a stranger got %s", got)
		}
		stranger.watch("t", `subscription { timeline(name: \"news\", after: \"broken\") { text } }`)
		if got := stranger.read(); !strings.Contains(got, `"type":"error"`) || !strings.HasSuffix(got, `"id":"t"}`) {
			t.Errorf("a broken cursor got %s", got)
		}
		stranger.alive()
	})
}

func TestACompletedSubscriptionLeavesItsClass(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.watch("s", watchNews)
		c.expect(happened("s", "caught up", "start", "0"))
		c.complete("s")
		c.alive()
		synctest.Wait()
		h.backend.timelines.publish("news", 7, "post")
		c.alive()
		r := h.server.sockets.classes
		if n := h.backend.timelines.subscribers("news"); n != 0 || len(r.byKey) != 0 {
			t.Errorf("%d subscribers, %d classes are left", n, len(r.byKey))
		}
		c.watch("s", watchNews)
		c.expect(happened("s", "caught up", "start", "0"))
	})
}

func TestASourceThatEndsARoute(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.watch("s", watchNews)
		c.expect(happened("s", "caught up", "start", "0"))
		h.backend.timelines.sink("news", 0).cancel(retwis.ErrForbidden)
		if got := c.read(); !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, "FORBIDDEN") {
			t.Errorf("got %s", got)
		}
		c.watch("s", watchNews)
		c.expect(happened("s", "caught up", "start", "0"))
		h.backend.timelines.sink("news", 0).cancel(retwis.ErrSlowConsumer)
		c.expectClose(closeTryLater)
	})
}

func TestEventsThatCannotBeRenderedInTime(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.watch("s", watchNews)
		c.expect(happened("s", "caught up", "start", "0"))
		gate := make(chan struct{})
		h.backend.timelines.set(func(t *timelines) { t.gate = gate })
		// What is being rendered no longer waits, so one more than the bound may be taken.
		taken := retwis.PostID(0)
		for taken <= maxPending+1 && h.backend.timelines.publish("news", taken+1, "post") == 0 {
			taken++
		}
		if taken < maxPending || taken > maxPending+1 {
			t.Errorf("%d posts wait to be rendered, want %d", taken, maxPending)
		}
		close(gate)
		c.expectClose(closeTryLater)
	})
}

func TestExecutionsThatFailAreRepeated(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.watch("s", watchNews)
		c.expect(happened("s", "caught up", "start", "0"))
		h.backend.timelines.set(func(t *timelines) { t.failures = 4 })
		h.backend.timelines.publish("news", 7, "post")
		c.expect(happened("s", "post", "c0-7", "0"))

		h.backend.timelines.set(func(t *timelines) { t.failures = 1000 })
		h.backend.timelines.publish("news", 8, "post")
		if got := c.read(); !strings.Contains(got, `"data":null`) || !strings.Contains(got, "outage") {
			t.Errorf("a failure that stays is told as %s", got)
		}
	})
}

func TestClassesAreBounded(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		r := h.server.sockets.classes
		for i := range maxClasses {
			r.byKey[classKey{operation: fmt.Sprint(i)}] = &class{}
		}
		one, other := h.ready(""), h.ready("")
		for _, c := range []*wsClient{one, other} {
			c.watch("s", watchNews)
			c.expect(happened("s", "caught up", "start", "0"))
		}
		h.backend.timelines.publish("news", 7, "post")
		one.expect(happened("s", "post", "c0-7", "0"))
		other.expect(happened("s", "post", "cursor1-7", "0"))
		if got := h.backend.timelines.executions(); got != 4 {
			t.Errorf("%d executions, want each for itself", got)
		}
	})
}

func TestRenderingsAreForgotten(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.watch("s", watchNews)
		c.expect(happened("s", "caught up", "start", "0"))
		h.backend.timelines.publish("news", 7, "post")
		c.expect(happened("s", "post", "c0-7", "0"))
		time.Sleep(2 * renderingTTL)
		shared := &h.server.sockets.classes.shared
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if n := len(shared.known) + len(shared.queue) + shared.bytes; n != 0 {
			t.Errorf("%d renderings and bytes are kept", n)
		}
	})
}

// The socket takes a part of a large frame; what follows must not overtake the rest.
func TestFramesThatTheSocketTakesInParts(t *testing.T) {
	onTCP(t, func(o *Options) { o.QueueBytes = 64 << 20 }, func(h *harness) {
		c := h.ready("")
		c.watch("s", watchNews)
		c.expect(happened("s", "caught up", "start", "0"))
		const posts = 40
		text := strings.Repeat("x", 300_000)
		for post := range retwis.PostID(posts) {
			h.backend.timelines.publish("news", post+1, text)
		}
		for post := range retwis.PostID(posts) {
			if got := c.read(); got != happened("s", text, "c0-"+(post+1).String(), "0") {
				t.Fatalf("message %d is another, or broken: %d bytes, %.100s", post, len(got), got)
			}
		}
		c.alive()
	})
}
