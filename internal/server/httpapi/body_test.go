package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/cost"
	"retwis/internal/server"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
	"retwis/internal/server/servertest"
)

// An endless body is not read to its end. A body with a length above the limit is not read at all.
func TestBody_EndlessIsNotRead(t *testing.T) {
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
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.Connect()
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
				if sent > 4*httpapi.MaxBody {
					h.Errorf("%d bytes were read", sent)
				}
				got := <-answer
				want := http.StatusRequestEntityTooLarge
				if strings.Contains(name, "compressed") {
					want = http.StatusUnsupportedMediaType
				}
				if got.status != want || !strings.Contains(got.body, "BAD_USER_INPUT") || len(got.body) > 4<<10 {
					h.Errorf("got status %d, %.200s", got.status, got.body)
				}
			})
		})
	}
}

func TestBody_WithoutLengthIsLimited(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		body := io.MultiReader(strings.NewReader(`{"query":"`), strings.NewReader(strings.Repeat("x", httpapi.MaxBody)))
		r, err := http.NewRequestWithContext(h.Context(), http.MethodPost, h.URL+"/graphql", body)
		if err != nil {
			h.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		w, err := h.HTTP.Do(r)
		if err != nil {
			h.Fatal(err)
		}
		defer w.Body.Close()
		if w.StatusCode != http.StatusRequestEntityTooLarge {
			h.Errorf("got status %d", w.StatusCode)
		}
	})
}

// Attack: many large bodies that arrive slowly, and never completely.
func TestBody_LargeOnesThatArriveAreBoundedPerNetwork(t *testing.T) {
	t.Parallel()
	const most = 3
	shares := cost.NewShares()
	shares.Requests = cost.NewGates(2*most*httpapi.MaxBody, most*httpapi.MaxBody)
	servertest.InBubble(t, func(o *server.Options) { o.Shares = shares }, func(h *servertest.Harness) {
		const length = 100 << 10
		begin := func() net.Conn {
			c := h.Connect()
			go func() { // a refusal interrupts it
				_, _ = fmt.Fprintf(c, "POST /graphql HTTP/1.1\r\nHost: retwis.test\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", length)
				_, _ = io.WriteString(c, `{"query":"{hello}"}`+strings.Repeat(" ", 50<<10))
			}()
			synctest.Wait()
			return c
		}
		answer := func(c net.Conn) int {
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				h.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") == "" {
				h.Error("the refusal has no Retry-After")
			}
			return response.StatusCode
		}
		first := begin()
		for range most - 1 {
			begin()
		}
		before := h.Backend.Charged.Load()
		if got := answer(begin()); got != http.StatusTooManyRequests {
			h.Errorf("one more body: status %d", got)
		}
		if got := h.Backend.Charged.Load() - before; got < int64(cost.Received(operation.LargeRequest)) {
			h.Errorf("one more body: charged %d points, want at least those for what has arrived", got)
		}
		if w, body := h.Do("POST", "", `{"query":"{hello}"}`, servertest.JSON); w.StatusCode != http.StatusOK {
			h.Errorf("a small body: status %d %s", w.StatusCode, body)
		}
		go func() { _, _ = io.WriteString(first, strings.Repeat(" ", length-(50<<10)-len(`{"query":"{hello}"}`))) }()
		if got := answer(first); got != http.StatusOK {
			h.Errorf("a body that has arrived: status %d", got)
		}
		time.Sleep(time.Minute) // the others are given up
		synctest.Wait()
		if used := shares.Requests.Used(); used != 0 {
			h.Errorf("%d bytes count after the bodies have arrived or been given up", used)
		}
	})
}
