package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"retwis/internal/redistest"
)

// halfRequest is a request whose body is not sent yet.
type halfRequest struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	rest string
}

// begin sends the head of a query and waits until the server asks for the body.
func begin(t *testing.T, url, token string) *halfRequest {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	body := `{"query":"{ viewer { user { username } } }"}`
	fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", host, token, len(body))
	h := &halfRequest{t: t, conn: conn, r: bufio.NewReader(conn), rest: body}
	line, err := h.r.ReadString('\n')
	if err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server answered %q, %v", line, err)
	}
	if _, err := h.r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return h
}

// finish sends the body and returns the response.
func (h *halfRequest) finish() (int, string) {
	h.t.Helper()
	if _, err := io.WriteString(h.conn, h.rest); err != nil {
		h.t.Fatal(err)
	}
	response, err := http.ReadResponse(h.r, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestStop_CompletesRequestsAndClosesSockets(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_DATA_DIR="+filepath.Join(t.TempDir(), "data")))
	reader := register(t, p.url, "reader")
	live := reader.watchNow()
	request := begin(t, p.url, reader.token)

	p.signal(syscall.SIGTERM)
	p.await(p.stderr, `msg="server: stopping"`)
	live.expectClose(1012)
	if status, text := request.finish(); status != http.StatusOK || !strings.Contains(text, `"reader"`) {
		t.Errorf("a request in progress got %d %s", status, text)
	}
	if code := p.code(); code != 0 { // a shutdown that takes too long is an error
		t.Errorf("it ended with code %d", code)
	}
}

func TestStop_IsBoundedWithoutRedis(t *testing.T) {
	t.Parallel()
	node := redistest.Server(t)
	p := serve(t, environment("RETWIS_REDIS_URL="+node.URL()))
	reader := register(t, p.url, "reader")
	live := reader.watchNow()
	node.Pause()
	p.signal(syscall.SIGTERM)
	asked := time.Now()
	live.expectClose(1012)
	p.code()
	if took := time.Since(asked); took > stopTime+20*time.Second {
		t.Errorf("it took %s to stop", took)
	}
	node.Resume()
}

func TestStop_SecondSignalIsImmediate(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory"))
	reader := register(t, p.url, "reader")
	begin(t, p.url, reader.token) // and is never completed
	p.signal(syscall.SIGTERM)
	p.await(p.stderr, `msg="server: stopping"`)
	eventually(t, "it has ended", func() bool { // a second signal counts only after the first one is handled
		p.signal(syscall.SIGTERM)
		select {
		case <-p.ended:
			return true
		default:
			return false
		}
	})
	if code := p.code(); code != -1 {
		t.Errorf("it ended with code %d instead of by the signal", code)
	}
}

func TestService_EndsWithItsRedis(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_DATA_DIR="+filepath.Join(t.TempDir(), "data")))
	live := register(t, p.url, "reader").watchNow()
	line := p.await(p.stderr, "embedded: redis-server started")
	found := regexp.MustCompile(`pid=(\d+)`).FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("no process id in %q", line)
	}
	pid, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	live.expectClose(1012)
	if code := p.code(); code != 1 {
		t.Errorf("it ended with code %d", code)
	}
	p.await(p.stderr, "retwis: the redis-server of this service has ended")
}
