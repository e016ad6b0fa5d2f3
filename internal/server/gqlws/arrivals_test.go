package gqlws_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"

	"retwis/internal/cost"
	"retwis/internal/server"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/servertest"
)

// Attack: many sockets of one client send large messages slowly, and do not finish them.
func TestLargeMessages_ThatArriveAreBoundedForAllSocketsOfAClient(t *testing.T) {
	t.Parallel()
	const most = 3
	shares := cost.NewShares()
	shares.Requests = cost.NewGates(4*most*httpapi.MaxBody, most*httpapi.MaxBody) // the clients of a test are one network
	servertest.InBubble(t, func(o *server.Options) { o.Shares = shares }, func(h *servertest.Harness) {
		begin := func(token string) (*servertest.Socket, io.WriteCloser) {
			c := h.Ready(token)
			w, err := c.WS.NextWriter(websocket.TextMessage)
			if err != nil {
				h.Fatal(err)
			}
			if _, err := io.WriteString(w, `{"type":"ping"}`+strings.Repeat(" ", 100<<10)); err != nil {
				h.Fatal(err)
			}
			return c, w
		}
		finish := func(c *servertest.Socket, w io.Closer) {
			if err := w.Close(); err != nil {
				h.Fatal(err)
			}
			c.Expect(`{"type":"pong"}`)
		}
		token := h.Login(7)
		first, rest := begin(token)
		var given []*servertest.Socket
		for range most - 1 {
			c, _ := begin(token)
			given = append(given, c)
		}
		over, _ := begin(token)
		over.ExpectClose(websocket.CloseTryAgainLater)
		finish(begin("")) // another client
		finish(first, rest)
		for _, c := range given {
			_ = c.WS.Close()
		}
		synctest.Wait()
		if used := shares.Requests.Used(); used != 0 {
			h.Errorf("%d bytes count after the messages have arrived or been given up", used)
		}
	})
}
