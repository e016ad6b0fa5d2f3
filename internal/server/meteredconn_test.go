package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// freeReads is how many small reads of a connection are free at once.
const freeReads = 20

// firstReads is the same for a new connection.
const firstReads = 5

// inBytes writes a text, a byte at a time. Each takes the server one read. It stops when the server has closed the connection.
func inBytes(c net.Conn, text string) {
	for i := range len(text) {
		if _, err := io.WriteString(c, text[i:i+1]); err != nil {
			return
		}
	}
}

// upload is the header of a request whose body the test sends.
func upload(length int, headers ...string) string {
	headers = append(headers, "Host: retwis.test", "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", length))
	return "POST /graphql HTTP/1.1\r\n" + strings.Join(headers, "\r\n") + "\r\n\r\n"
}

// Attack: a read takes the same time whether it returns one byte or thousands, but only bytes had a price.
func TestServer_ChargesSmallReads(t *testing.T) {
	t.Parallel()
	const many = 1000
	fragment := string([]byte{0x00, 0x81, 0, 0, 0, 0, ' '})
	for _, tt := range []struct {
		name    string
		send    func(h *servertest.Harness, c net.Conn)
		charged int
	}{
		{"a body in bytes", func(_ *servertest.Harness, c net.Conn) {
			_, _ = io.WriteString(c, upload(2*many))
			inBytes(c, strings.Repeat(" ", many))
		}, cost.PerSmallRead * (many + 1 - firstReads)},
		{"a header in bytes", func(_ *servertest.Harness, c net.Conn) {
			inBytes(c, "GET / HTTP/1.1\r\nX-Slow: "+strings.Repeat("x", many-24))
		}, cost.PerSmallRead * (many - firstReads)},
		{"a body in pieces that are too small", func(_ *servertest.Harness, c net.Conn) {
			_, _ = io.WriteString(c, upload(100*2047+1))
			for range 100 {
				_, _ = io.WriteString(c, strings.Repeat(" ", 2047))
			}
		}, cost.PerSmallRead * (101 - firstReads)},
		{"a body in larger pieces", func(_ *servertest.Harness, c net.Conn) {
			_, _ = io.WriteString(c, upload(100*2048+1))
			for range 100 {
				_, _ = io.WriteString(c, strings.Repeat(" ", 2048))
			}
		}, 0},
		{"slow small reads", func(_ *servertest.Harness, c net.Conn) {
			_, _ = io.WriteString(c, upload(2*many))
			for range 3 * freeReads { // within the time that a body may take
				inBytes(c, " ")
				time.Sleep(100 * time.Millisecond)
			}
		}, cost.PerSmallRead * (3*freeReads - firstReads - 3)},
		{"requests", func(h *servertest.Harness, c net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, c) }()
			for range 5 * freeReads {
				_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: retwis.test\r\n\r\n")
				synctest.Wait()
			}
		}, 5*freeReads*cost.PerRequest + cost.PerConnection},
		{"pongs", func(h *servertest.Harness, c net.Conn) {
			h.SocketOn(c)
			const init = `{"type":"connection_init"}`
			_, _ = c.Write(append([]byte{0x81, 0x80 | byte(len(init)), 0, 0, 0, 0}, init...))
			frame := make([]byte, 1024)
			for answered := 0; answered < 2*freeReads; {
				if _, err := c.Read(frame); err != nil {
					h.Fatal(err)
				}
				if frame[0] == 0x89 { // a ping
					_, _ = c.Write([]byte{0x8a, 0x80, 0, 0, 0, 0})
					answered++
				}
			}
		}, cost.PerUpgrade + cost.PerRequest},
		{"websocket frames of a byte", func(h *servertest.Harness, c net.Conn) {
			h.SocketOn(c)
			go func() { _, _ = io.Copy(io.Discard, c) }()
			inFrames := "\x01" + fragment[1:]
			for range many / 5 {
				_, _ = io.WriteString(c, inFrames)
				inFrames = fragment
			}
		}, cost.PerUpgrade + cost.PerSmallRead*(many/5-firstReads)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.ConnectFrom("198.51.100.1")
				before := h.Backend.Charged.Load()
				tt.send(h, c)
				synctest.Wait()
				got := int(h.Backend.Charged.Load() - before)
				if got < tt.charged || got > tt.charged+20 {
					h.Errorf("charged %d points, want %d", got, tt.charged)
				}
			})
		})
	}
}

// A network without budget is not read from as often as it sends.
func TestServer_PausesReadsWithoutBudget(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		c := h.ConnectFrom("198.51.100.1")
		_, _ = io.WriteString(c, upload(1000))
		start := time.Now()
		inBytes(c, " ")
		if took := time.Since(start); took > 0 {
			h.Errorf("a read that is free took %v", took)
		}
		inBytes(c, "     ")
		if took := time.Since(start); took < 400*time.Millisecond {
			h.Errorf("5 bytes were read one by one in %v", took)
		}
		c = h.ConnectFrom("198.51.100.1")
		_, _ = io.WriteString(c, upload(200*1024+1))
		start = time.Now()
		for range 200 {
			_, _ = io.WriteString(c, strings.Repeat(" ", 1024))
		}
		if took := time.Since(start); took < 3*time.Second {
			h.Errorf("200 KB, which will be refused, were read in %v", took)
		}
	})
}

// Attack: websockets of a network without budget send parts of a message all the time, which nobody pays for.
func TestServer_ClosesConnectionsOfSmallReadsWithoutBudget(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.ConnectFrom("198.51.100.1")
		h.SocketOn(c)
		go func() { _, _ = io.Copy(io.Discard, c) }()
		const init = `{"type":"connection_init"}`
		_, _ = c.Write(append([]byte{0x81, 0x80 | byte(len(init)), 0, 0, 0, 0}, init...))
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		const slowReads = 5
		parts := 0
		for frame := byte(0x01); parts < 2*slowReads; parts++ {
			time.Sleep(200 * time.Millisecond)
			if _, err := c.Write([]byte{frame, 0x81, 0, 0, 0, 0, ' '}); err != nil {
				break
			}
			frame = 0x00
		}
		if parts < slowReads || parts == 2*slowReads {
			h.Errorf("the websocket was closed after %d parts, want %d or a few more", parts, slowReads)
		}
	})
}

// Attack: one anonymous client uses up the budget of its network. The websockets of its users, who had budgets of their own, were closed after five
// subscriptions, and so were connections whose requests arrived in two packets, in the middle of mutations.
func TestServer_ReadsFromUsersWithBudgetInNetworksWithout(t *testing.T) {
	t.Parallel()
	const user, many = 7, 3 * freeReads
	spend := func(h *servertest.Harness) {
		h.Backend.Admitted.Store(user)
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
	}
	t.Run("by websocket", func(t *testing.T) {
		servertest.InBubble(t, nil, func(h *servertest.Harness) {
			socket := h.SocketOn(h.ConnectFrom("198.51.100.1"))
			socket.Send(`{"type":"connection_init","payload":{"authorization":"Bearer ` + h.Login(user) + `"}}`)
			socket.Expect(`{"type":"connection_ack"}`)
			spend(h)
			start := time.Now()
			for range many {
				socket.Subscribe("1", "{ hello }")
				socket.Expect(`{"type":"next","payload":{"data":{"hello":"world"}},"id":"1"}`, `{"type":"complete","id":"1"}`)
			}
			if took := time.Since(start); took > 0 {
				h.Errorf("%d small messages took %v", many, took)
			}
		})
	})
	t.Run("in two packets", func(t *testing.T) {
		servertest.InBubble(t, nil, func(h *servertest.Harness) {
			c, body := h.ConnectFrom("198.51.100.1"), `{"query":"{ hello }"}`
			header, answers := upload(len(body), "Authorization: Bearer "+h.Login(user)), bufio.NewReader(c)
			send := func() time.Duration {
				start := time.Now()
				_, _ = io.WriteString(c, header)
				synctest.Wait()
				_, _ = io.WriteString(c, body)
				response, err := http.ReadResponse(answers, nil)
				if err != nil {
					h.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if response.StatusCode != http.StatusOK {
					h.Fatalf("status %d", response.StatusCode)
				}
				return time.Since(start)
			}
			send() // now the server knows who sends
			spend(h)
			for range many {
				if took := send(); took > 0 {
					h.Fatalf("a request took %v", took)
				}
			}
		})
	})
}

// Attack: a network without budget opens connections for requests that are refused.
func TestServer_ReadsNewConnectionsRarelyWithoutBudget(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		const n = 50
		connect := func() (took time.Duration) {
			start, read := time.Now(), make(chan time.Duration, n)
			for range n {
				c := h.ConnectFrom("198.51.100.1")
				go func() {
					_, _ = io.WriteString(c, upload(100)) // until it is read
					read <- time.Since(start)
				}()
			}
			for range n {
				took = max(took, <-read)
			}
			return took
		}
		if took := connect(); took > n*time.Millisecond {
			h.Errorf("%d connections of a network were read in %v", n, took)
		}
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		if took := connect(); took < (n-2)*20*time.Millisecond {
			h.Errorf("%d connections of a network without budget were read in %v", n, took)
		}
	})
}

// Attack: many connections that are open send headers with thousands of fields at once, which no handler sees.
func TestServer_ReadsLargeHeadersInTurn(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		const n = 50
		conns := make([]net.Conn, n)
		for i := range conns {
			conns[i] = h.ConnectFrom("198.51.100.1")
		}
		time.Sleep(time.Second) // all connections are read
		answer := func(request string) (took time.Duration) {
			start, answered := time.Now(), make(chan time.Duration, n)
			for _, c := range conns {
				go func() {
					_, _ = io.WriteString(c, request)
					_, _ = c.Read(make([]byte, 4096))
					answered <- time.Since(start)
				}()
			}
			for range n {
				took = max(took, <-answered)
			}
			return took
		}
		lines := `{"query":"{ hello }"` + strings.Repeat("\n", 500) + "}"
		if took := answer(upload(len(lines)) + lines); took > 0 {
			h.Errorf("%d requests of many lines took %v", n, took)
		}
		if took := answer("GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("a:\n", 500) + "malformed\r\n\r\n"); took < (n-2)*20*time.Millisecond {
			h.Errorf("%d malformed headers of many fields took %v", n, took)
		}
	})
}

// Attack: net/http removes spaces around the values of a header, and what divides a body into chunks, before anybody can count them.
func TestServer_ChargesBytesThatAreRemoved(t *testing.T) {
	t.Parallel()
	const body = `{"query":"{ hello }"}`
	spaces := "X-A: " + strings.Repeat(" ", 8<<10)
	for name, request := range map[string]string{
		"spaces": upload(len(body), spaces) + body,
		"chunk extensions": "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x;%s\r\n%s\r\n0\r\n\r\n", len(body), strings.Repeat("x", 4000), body),
		"a trailer": "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\nX-A: %s\r\n\r\n", len(body), body, strings.Repeat("x", 4000)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.ConnectFrom("198.51.100.1")
				go func() { _, _ = io.Copy(io.Discard, c) }()
				before := h.Backend.Charged.Load()
				_, _ = io.WriteString(c, request)
				synctest.Wait()
				got := int(h.Backend.Charged.Load() - before)
				if least := cost.PerConnection + cost.Unknown(4000); got < least || got > cost.PerConnection+cost.Unknown(len(request))+10 {
					h.Errorf("charged %d points, want at least %d", got, least)
				}
			})
		})
	}
}

// The connections of a trusted proxy carry requests of many clients.
func TestServer_ChargesSmallReadsToTheClientBehindAProxy(t *testing.T) {
	t.Parallel()
	trust := func(o *server.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32")} }
	servertest.InBubble(t, trust, func(h *servertest.Harness) {
		c := h.ConnectFrom("198.51.100.1")
		answers := make(chan byte, 1)
		go func() {
			defer close(answers)
			for b := make([]byte, 4096); ; answers <- b[0] {
				if _, err := c.Read(b); err != nil {
					return
				}
			}
		}()
		send := func(text string, headers ...string) int {
			before := h.Backend.Charged.Load()
			inBytes(c, upload(len(text), headers...)+text)
			<-answers
			return int(h.Backend.Charged.Load()-before) - cost.PerRequest
		}
		body := `{"query":"{ hello }"}` + strings.Repeat(" ", 500)
		if got := send(body); got > 0 {
			h.Errorf("charged %d points for a request of the proxy itself", got)
		}
		if got := send(body, "X-Forwarded-For: 203.0.113.1"); got != cost.PerSmallRead*(len(body)-1) { // a read of each request is free
			h.Errorf("charged %d points for a body of a client, want %d", got, cost.PerSmallRead*(len(body)-1))
		}
		if got := send(body); got > 0 {
			h.Errorf("charged %d points for the next request", got)
		}
		if got := send(body, "X-Spaces: "+strings.Repeat(" ", 4000)); got > 0 {
			h.Errorf("charged %d points for spaces of the proxy", got)
		}
		if got := send(body, "X-Forwarded-For: 203.0.113.2"); got != cost.PerSmallRead*(len(body)-1) {
			h.Errorf("charged %d points for a body after them, want %d", got, cost.PerSmallRead*(len(body)-1))
		}
	})
}
