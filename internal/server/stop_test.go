package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

func TestStop_SpreadsTheDrain(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		const n = 10
		var mu sync.Mutex
		var closed []time.Duration
		var wg sync.WaitGroup
		var start time.Time
		for i := range n {
			c := h.Ready("")
			if i%2 == 0 {
				c.Subscribe("1", servertest.FeedA)
			}
			wg.Go(func() {
				c.ExpectClose(1012)
				mu.Lock()
				defer mu.Unlock()
				closed = append(closed, time.Since(start))
			})
		}
		synctest.Wait()
		start = time.Now()
		h.Stop()
		took := time.Since(start)
		wg.Wait()
		if took > 10*time.Second {
			h.Errorf("stopping took %v", took)
		}
		slices.Sort(closed)
		for i, at := range closed {
			if want := time.Duration(i) * 500 * time.Millisecond; at != want {
				h.Errorf("socket %d closed after %v, want %v", i, at, want)
			}
		}
		if n := h.Backend.Subscriptions(); n != 0 {
			h.Errorf("%d subscriptions are open", n)
		}
	})
}

func TestStop_FinishesRequests(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		var status int
		var wg sync.WaitGroup
		wg.Go(func() {
			w, _ := h.Do("POST", "", `{"query":"{ gate(name: \"g\") }"}`, servertest.JSON)
			status = w.StatusCode
		})
		synctest.Wait()
		stopped := make(chan struct{})
		go func() {
			h.Stop()
			close(stopped)
		}()
		time.Sleep(3 * time.Second)
		select {
		case <-stopped:
			h.Error("stopped while a request was running")
		default:
		}
		close(h.Backend.Gate("g"))
		wg.Wait()
		<-stopped
		if status != http.StatusOK {
			h.Errorf("got status %d", status)
		}
	})
}

func TestStop_AnswersMutationsOfSockets(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Ready("")
		c.Subscribe("1", `mutation { gate(name: "g") }`)
		synctest.Wait()
		stopped := make(chan struct{})
		go func() {
			h.Stop()
			close(stopped)
		}()
		synctest.Wait()
		close(h.Backend.Gate("g"))
		c.Expect(`{"type":"next","payload":{"data":{"gate":"through"}},"id":"1"}`, `{"type":"complete","id":"1"}`)
		c.ExpectClose(1012)
		<-stopped // in a bubble, time does not advance while a goroutine waits in a sync.Once
	})
}

func TestStop_IsBounded(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		go func() {
			r, _ := http.NewRequestWithContext(h.Context(), http.MethodGet, h.URL+"/graphql?query={gate(name:%22never%22)}", nil)
			if w, err := h.HTTP.Do(r); err == nil {
				w.Body.Close()
			}
		}()
		c := h.Ready("")
		c.Subscribe("1", `{ blob(size: 100000) }`) // without reading it
		synctest.Wait()
		start := time.Now()
		h.Stop()
		if took := time.Since(start); took > 10*time.Second {
			h.Errorf("stopping took %v", took)
		}
	})
}

func TestStop_DoesNotWaitForIdleConnections(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		conn := h.Connect()
		synctest.Wait()
		start := time.Now()
		h.Stop()
		if took := time.Since(start); took > time.Second {
			t.Errorf("stopping took %v", took)
		}
		if text, err := io.ReadAll(conn); err != nil || len(text) > 0 {
			t.Errorf("an idle connection received %q, %v", text, err)
		}
	})
}

func TestStop_RefusesNewSockets(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		h.Stop()
		r := httptest.NewRequestWithContext(h.Context(), http.MethodGet, "/graphql", nil)
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		w := httptest.NewRecorder()
		h.Server.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable {
			h.Errorf("got status %d", w.Code)
		}
	})
}

func TestRun_SelectsAPort(t *testing.T) {
	s, err := server.New(server.Options{Executor: servertest.NewBackend().Executor(), Accounts: &servertest.Accounts{}, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	for s.Addr() == nil {
		select {
		case err := <-done:
			t.Fatalf("run: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestRun_FailsIfItCannotListen(t *testing.T) {
	s, err := server.New(server.Options{Executor: servertest.NewBackend().Executor(), Accounts: &servertest.Accounts{}, Listen: "256.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err == nil {
		t.Error("Run succeeded without a listener")
	}
}

func TestStop_IsVisibleBeforeTheListenerCloses(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, func(o *server.Options) { o.ShutdownDelay = 2 * time.Second }, func(h *servertest.Harness) {
		client := h.Ready("")
		stopped := make(chan struct{})
		go func() {
			h.Stop()
			close(stopped)
		}()
		time.Sleep(time.Second)
		if w, body := h.Request("GET", h.URL+"/readyz", ""); w.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, `"draining":true`) {
			h.Errorf("/readyz of a stopping server: %d %s", w.StatusCode, body)
		}
		if w, body := h.Do("POST", "", `{"query":"{ whoami }"}`, servertest.JSON); w.StatusCode != http.StatusOK {
			h.Errorf("a request before the listener closes: %d %s", w.StatusCode, body)
		}
		client.ExpectAlive()
		time.Sleep(time.Second)
		client.ExpectClose(1012)
		<-stopped
		r, _ := http.NewRequestWithContext(h.Context(), http.MethodGet, h.URL+"/readyz", nil)
		if w, err := h.HTTP.Do(r); err == nil {
			w.Body.Close()
			h.Error("the listener is open after the shutdown")
		}
	})
}
