package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// connect opens a connection that says only what the test writes.
func (h *harness) connect() net.Conn {
	h.Helper()
	c, err := h.dial(h.Context(), "tcp", "")
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = c.Close() })
	return c
}

// trickle writes a text slowly, until that fails, and returns how long it could.
func trickle(c net.Conn, text string, pause time.Duration) time.Duration {
	start := time.Now()
	for i := range len(text) {
		if _, err := c.Write([]byte{text[i]}); err != nil {
			break
		}
		time.Sleep(pause)
	}
	return time.Since(start)
}

// A message of which the last part never comes would keep its memory for as long as pongs
// between the parts say that somebody is there.
func TestMessagesThatDoNotEndAreCutOff(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		go func() { // answers pings
			for {
				if _, _, err := c.ws.ReadMessage(); err != nil {
					return
				}
			}
		}()
		c.send(`{"type":"ping"}`)
		time.Sleep(2 * readTime) // nothing comes in meanwhile
		start := time.Now()
		w, err := c.ws.NextWriter(websocket.TextMessage)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, 100<<10)); err != nil { // goes out in parts
			t.Fatal(err)
		}
		for err == nil && time.Since(start) < 10*readTime {
			time.Sleep(time.Second)
			err = c.ws.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second))
		}
		if took := time.Since(start); took < readTime || took > readTime+5*time.Second {
			t.Errorf("it was cut off after %s: %v", took, err)
		}
	})
}

// Clients that hold connections and say little, to use up what there is of them.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	const head = "POST /graphql HTTP/1.1\r\nHost: retwis.test\r\nContent-Type: application/json\r\n"
	for _, tt := range []struct {
		name, fast, slow string
		within           time.Duration
	}{
		{"silence", "", "", 6 * time.Second},
		{"slow headers", "", head + "X-Slow: " + strings.Repeat("x", 1000), 6 * time.Second},
		{"headers without an end", head, strings.Repeat("X-Slow: x\r\n", 1000), 6 * time.Second},
		{"a body that does not come", head + "Content-Length: 1000\r\n\r\n", "", 21 * time.Second},
		{"a slow body", head + "Content-Length: 1000\r\n\r\n", strings.Repeat("x", 1000), 22 * time.Second},
		{"a slow body in chunks", head + "Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\nx\r\n", 1000), 22 * time.Second},
		{"nothing after a request", "GET /healthz HTTP/1.1\r\nHost: retwis.test\r\n\r\n", "", 121 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(h *harness) {
				c := h.connect()
				start := time.Now()
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					_, _ = io.Copy(io.Discard, c) // what the server says, until it hangs up
				}()
				if _, err := io.WriteString(c, tt.fast); err != nil {
					h.Fatal(err)
				}
				trickle(c, tt.slow, 500*time.Millisecond)
				<-gone
				if held := time.Since(start); held > tt.within {
					h.Errorf("the connection was held for %v", held)
				}
			})
		})
	}
}

// A body that goes on for ever is not read to its end, and one that says so is not begun.
func TestBodiesWithoutAnEndAreNotRead(t *testing.T) {
	t.Parallel()
	const head = "POST /graphql HTTP/1.1\r\nHost: retwis.test\r\nContent-Type: application/json\r\n"
	for name, lines := range map[string]string{
		"of 100 MB":              "Content-Length: 104857600\r\n\r\n",
		"in chunks":              "Transfer-Encoding: chunked\r\n\r\n",
		"of 100 MB, compressed":  "Content-Encoding: gzip\r\nContent-Length: 104857600\r\n\r\n",
		"in chunks, compressed":  "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
		"of events, in chunks":   "Accept: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
		"of 100 MB, and a check": "Expect: 100-continue\r\nContent-Length: 104857600\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(h *harness) {
				c := h.connect()
				type refused struct {
					status int
					body   string
				}
				answer := make(chan refused, 1)
				go func() {
					response, err := http.ReadResponse(bufio.NewReader(c), nil)
					if err != nil {
						answer <- refused{body: err.Error()}
						return
					}
					body, _ := io.ReadAll(response.Body)
					_ = response.Body.Close()
					answer <- refused{response.StatusCode, string(body)}
				}()
				if _, err := io.WriteString(c, head+lines); err != nil {
					h.Fatal(err)
				}
				part := strings.Repeat("x", 4<<10)
				if strings.Contains(lines, "chunked") {
					part = "1000\r\n" + part + "\r\n"
				}
				sent := 0
				for range 100 << 20 / (4 << 10) {
					n, err := io.WriteString(c, part)
					sent += n
					if err != nil {
						break
					}
				}
				if sent > 4*maxBody {
					h.Errorf("%d bytes were taken", sent)
				}
				got := <-answer
				want := http.StatusRequestEntityTooLarge
				if strings.Contains(name, "compressed") {
					want = http.StatusUnsupportedMediaType
				}
				if got.status != want || !strings.Contains(got.body, "BAD_USER_INPUT") || len(got.body) > 4<<10 {
					h.Errorf("it is answered %d %.200s", got.status, got.body)
				}
			})
		})
	}
}
