package broadcast_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/broadcast"
	"retwis/internal/server/servertest"
)

func TestGroups_EventIsRenderedOnce(t *testing.T) {
	servertest.OnBoth(t, func(h *servertest.Harness) {
		var clients []*servertest.Socket
		for i := range 3 {
			c := h.Ready(h.Login(retwis.UserID(1025 + 1024*i)))
			c.Subscribe("s", servertest.News)
			c.Expect(servertest.Next("s", "caught up", "start", "0"))
			clients = append(clients, c)
		}
		before := h.Backend.Timelines.Rendered()
		h.Backend.Timelines.Publish("news", 7, "a \"post\"")
		h.Backend.Timelines.Publish("news", 8, "another")
		for i, c := range clients {
			cursor := []string{"c0-", "cursor1-", "c2"}[i]
			c.Expect(servertest.Next("s", "a \"post\"", cursor+"7", "0"), servertest.Next("s", "another", cursor+"8", "0"))
		}
		// The event of catching up is cached, so later subscribers may share it.
		if got := h.Backend.Timelines.Rendered() - before; got != 2 || before < 1 || before > 3 {
			t.Errorf("%d renderings of two posts, and %d of three that caught up", got, before)
		}
	})
}

func TestGroups_ViewerDependentEventIsRenderedPerViewer(t *testing.T) {
	servertest.OnBoth(t, func(h *servertest.Harness) {
		alice, bob := h.Login(1025), h.Login(2049)
		var clients []*servertest.Socket
		for _, token := range []string{alice, bob, alice, ""} {
			c := h.Ready(token)
			c.Subscribe("s", servertest.NewsMine)
			clients = append(clients, c)
			viewer := map[string]string{alice: "1025", bob: "2049", "": "0"}[token]
			c.Expect(servertest.Next("s", "caught up", "start", viewer))
		}
		before := h.Backend.Timelines.Rendered()
		h.Backend.Timelines.Publish("news", 7, "post")
		for i, viewer := range []string{"1025", "2049", "1025", "0"} {
			clients[i].Expect(servertest.Next("s", "post", []string{"c0-", "cursor1-", "c2"}[i%3]+"7", viewer))
		}
		if got := h.Backend.Timelines.Rendered() - before; got != 3 {
			t.Errorf("%d renderings for three viewers", got)
		}
	})
}

func TestGroups_EachSubscriberIsAuthorised(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		query := `subscription { timeline(name: "private") { text } }`
		c := h.Ready(h.Login(1025))
		c.Subscribe("s", query)
		c.Expect(servertest.Next("s", "caught up", "start", "0"))
		stranger := h.Ready("")
		stranger.Subscribe("s", query)
		if got := stranger.Read(); !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, "FORBIDDEN") {
			t.Errorf("an unauthorised subscriber got %s", got)
		}
		stranger.Subscribe("t", `subscription { timeline(name: "news", after: "broken") { text } }`)
		if got := stranger.Read(); !strings.Contains(got, `"type":"error"`) || !strings.HasSuffix(got, `"id":"t"}`) {
			t.Errorf("a broken cursor got %s", got)
		}
		stranger.ExpectAlive()
	})
}

func TestGroups_CompletedSubscriptionLeaves(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("s", servertest.News)
		c.Expect(servertest.Next("s", "caught up", "start", "0"))
		c.Complete("s")
		c.ExpectAlive()
		synctest.Wait()
		h.Backend.Timelines.Publish("news", 7, "post")
		c.ExpectAlive()
		if n, groups := h.Backend.Timelines.Subscribers("news"), h.Server.Stats().RenderGroups; n != 0 || groups != 0 {
			t.Errorf("%d subscribers and %d render groups are left", n, groups)
		}
		c.Subscribe("s", servertest.News)
		c.Expect(servertest.Next("s", "caught up", "start", "0"))
	})
}

func TestGroups_SourceEndsSubscription(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("s", servertest.News)
		c.Expect(servertest.Next("s", "caught up", "start", "0"))
		h.Backend.Timelines.Subscriber("news", 0).Cancel(retwis.ErrForbidden)
		if got := c.Read(); !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, "FORBIDDEN") {
			t.Errorf("got %s", got)
		}
		c.Subscribe("s", servertest.News)
		c.Expect(servertest.Next("s", "caught up", "start", "0"))
		h.Backend.Timelines.Subscriber("news", 0).Cancel(retwis.ErrSlowConsumer)
		c.ExpectClose(1013)
	})
}

func TestMember_DisconnectsWhenRenderingLags(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("s", servertest.News)
		c.Expect(servertest.Next("s", "caught up", "start", "0"))
		gate := make(chan struct{})
		h.Backend.Timelines.BlockOn(gate)
		// The event that is being rendered does not count, so one more may be accepted.
		taken := retwis.PostID(0)
		for taken <= broadcast.MaxPending+1 && h.Backend.Timelines.Publish("news", taken+1, "post") == 0 {
			taken++
		}
		if taken < broadcast.MaxPending || taken > broadcast.MaxPending+1 {
			t.Errorf("%d posts wait to be rendered, want %d", taken, broadcast.MaxPending)
		}
		close(gate)
		c.ExpectClose(1013)
	})
}

func TestGroup_RetriesInternalErrors(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("s", servertest.News)
		c.Expect(servertest.Next("s", "caught up", "start", "0"))
		h.Backend.Timelines.FailNext(4, "null", retwis.CodeInternal)
		h.Backend.Timelines.Publish("news", 7, "post")
		c.Expect(servertest.Next("s", "post", "c0-7", "0"))

		h.Backend.Timelines.FailNext(1000, "null", retwis.CodeInternal)
		h.Backend.Timelines.Publish("news", 8, "post")
		if got := c.Read(); !strings.Contains(got, `"data":null`) || !strings.Contains(got, "outage") {
			t.Errorf("a permanent failure is sent as %s", got)
		}
	})
}

// An outage may fail one nullable field of an event, whose value would then be wrong for a client that has the rest.
func TestGroup_SendsNoEventThatAnOutageMadeIncomplete(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		var subscribers []*servertest.Socket
		for range 3 {
			c := h.Ready("")
			c.Subscribe("s", servertest.News)
			c.Expect(servertest.Next("s", "caught up", "start", "0"))
			subscribers = append(subscribers, c)
		}
		incomplete := `{"cursor":"a cursor","text":null}`
		h.Backend.Timelines.FailNext(4, incomplete, retwis.CodeUnavailable)
		h.Backend.Timelines.Publish("news", 7, "post")
		for _, c := range subscribers {
			if got := c.Read(); !strings.Contains(got, `"text":"post"`) || strings.Contains(got, "errors") {
				t.Errorf("received %s, want the whole event", got)
			}
		}
		h.Backend.Timelines.FailNext(1000, incomplete, retwis.CodeUnavailable)
		before := h.Backend.Timelines.Rendered()
		h.Backend.Timelines.Publish("news", 8, "post")
		for _, c := range subscribers {
			c.ExpectClose(1013) // it resumes before the event
		}
		if tries := h.Backend.Timelines.Rendered() - before; tries > 20 {
			t.Errorf("the event was rendered %d times, want one series of tries for all subscribers", tries)
		}
	})
}

// The socket accepts a part of a large frame; later frames must not overtake the rest.
func TestDelivery_PartialWritesKeepOrder(t *testing.T) {
	servertest.OnTCP(t, func(o *server.Options) { o.QueueBytes = 64 << 20 }, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("s", servertest.News)
		c.Expect(servertest.Next("s", "caught up", "start", "0"))
		const posts = 40
		text := strings.Repeat("x", 300_000)
		for post := range retwis.PostID(posts) {
			h.Backend.Timelines.Publish("news", post+1, text)
		}
		for post := range retwis.PostID(posts) {
			if got := c.Read(); got != servertest.Next("s", text, "c0-"+(post+1).String(), "0") {
				t.Fatalf("unexpected message %d: %d bytes, %.100s", post, len(got), got)
			}
		}
		c.ExpectAlive()
	})
}
