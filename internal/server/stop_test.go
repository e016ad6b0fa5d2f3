package server

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrainIsSpread(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		const n = 10
		var mu sync.Mutex
		var closed []time.Duration
		var wg sync.WaitGroup
		var start time.Time
		for i := range n {
			c := h.ready("")
			if i%2 == 0 {
				c.subscribe("1", feedA)
			}
			wg.Go(func() {
				c.expectClose(1012)
				mu.Lock()
				defer mu.Unlock()
				closed = append(closed, time.Since(start))
			})
		}
		synctest.Wait()
		start = time.Now()
		h.stop()
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
		if n := h.backend.subscriptions(); n != 0 {
			h.Errorf("%d subscriptions are open", n)
		}
	})
}

func TestStopFinishesRequests(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		var status int
		var wg sync.WaitGroup
		wg.Go(func() {
			w, _ := h.do("POST", "", `{"query":"{ gate(name: \"g\") }"}`, typeJSON)
			status = w.StatusCode
		})
		synctest.Wait()
		stopped := make(chan struct{})
		go func() {
			h.stop()
			close(stopped)
		}()
		time.Sleep(3 * time.Second)
		select {
		case <-stopped:
			h.Error("stopped with a request under way")
		default:
		}
		close(h.backend.gate("g"))
		wg.Wait()
		<-stopped
		if status != http.StatusOK {
			h.Errorf("got status %d", status)
		}
	})
}

func TestStopAnswersMutationsOfSockets(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		c := h.ready("")
		c.subscribe("1", `mutation { gate(name: "g") }`)
		synctest.Wait()
		stopped := make(chan struct{})
		go func() {
			h.stop()
			close(stopped)
		}()
		synctest.Wait()
		close(h.backend.gate("g"))
		c.expect(`{"type":"next","payload":{"data":{"gate":"through"}},"id":"1"}`, `{"type":"complete","id":"1"}`)
		c.expectClose(1012)
		<-stopped // the clock of a bubble stands still for who waits within a sync.Once
	})
}

func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		go func() {
			r, _ := http.NewRequestWithContext(h.Context(), http.MethodGet, h.url+"/graphql?query={gate(name:%22never%22)}", nil)
			if w, err := h.client.Do(r); err == nil {
				w.Body.Close()
			}
		}()
		c := h.ready("")
		c.subscribe("1", `{ blob(size: 100000) }`) // and never reads it
		synctest.Wait()
		start := time.Now()
		h.stop()
		if took := time.Since(start); took > 10*time.Second {
			h.Errorf("stopping took %v", took)
		}
	})
}

func TestStopWaitsForNoConnectionThatAsksForNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		conn := h.connect()
		synctest.Wait()
		start := time.Now()
		h.stop()
		if took := time.Since(start); took > time.Second {
			t.Errorf("stopping took %v", took)
		}
		if text, err := io.ReadAll(conn); err != nil || len(text) > 0 {
			t.Errorf("who asked nothing was told %q, %v", text, err)
		}
	})
}

func TestStoppedServerOpensNoSocket(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		h.stop()
		r := httptest.NewRequestWithContext(h.Context(), http.MethodGet, "/graphql", nil)
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		w := httptest.NewRecorder()
		h.server.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable {
			h.Errorf("got status %d", w.Code)
		}
		if h.server.sockets.start(&socket{}) {
			h.Error("started a socket")
		}
	})
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	var broken bool
	inBubble(t, func(o *Options) {
		o.Checks = []Check{
			{"redis", func(context.Context) error { return nil }},
			{"live", func(ctx context.Context) error {
				if !broken {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}},
		}
	}, func(h *harness) {
		expect := func(status int, want readiness) {
			h.Helper()
			w := httptest.NewRecorder()
			h.server.Handler().ServeHTTP(w, httptest.NewRequestWithContext(h.Context(), http.MethodGet, "/readyz", nil))
			var got readiness
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				h.Fatal(err)
			}
			if w.Code != status || got.Ready != want.Ready || got.Draining != want.Draining || len(got.Checks) != len(want.Checks) {
				h.Errorf("got status %d, %+v", w.Code, got)
			}
			for name, state := range want.Checks {
				if got.Checks[name] != state {
					h.Errorf("%s is %s, want %s", name, got.Checks[name], state)
				}
			}
		}
		expect(200, readiness{Ready: true, Checks: map[string]string{"redis": "ok", "live": "ok"}})
		broken = true
		start := time.Now()
		expect(503, readiness{Checks: map[string]string{"redis": "ok", "live": "failing"}})
		if waited := time.Since(start); waited != checkTimeout {
			h.Errorf("waited %v for a check that hangs", waited)
		}
		broken = false
		h.stop()
		expect(503, readiness{Draining: true, Checks: map[string]string{}})
	})
}

func TestRunPicksAPort(t *testing.T) {
	s, err := New(Options{Executor: newBackend().executor(), Accounts: &accounts{}, Listen: "127.0.0.1:0"})
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

func TestRunSaysWhereItCannotListen(t *testing.T) {
	s, err := New(Options{Executor: newBackend().executor(), Accounts: &accounts{}, Listen: "256.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err == nil {
		t.Error("listened nowhere")
	}
}
