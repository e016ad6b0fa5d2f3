package redistest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/redistest"
)

// proxied returns a proxy in front of a server, a client that goes through it and
// repeats nothing, and one that goes past it.
func proxied(t *testing.T) (proxy *redistest.FaultProxy, through, past *redis.Client) {
	t.Helper()
	server := redistest.Server(t)
	proxy = server.Proxy()
	return proxy, impatient(t, proxy.URL()), server.Client()
}

func TestProxyForwards(t *testing.T) {
	t.Parallel()
	_, through, past := proxied(t)
	large := string(bytes.Repeat([]byte("x"), 1<<20))
	set(t, through, "k", large)
	wantValue(t, past, "k", large)
	wantValue(t, through, "k", large)
}

func TestProxyDropsReplies(t *testing.T) {
	t.Parallel()
	proxy, through, past := proxied(t)
	proxy.DropReplies(2)
	for range 2 {
		if err := through.Incr(t.Context(), "n").Err(); err == nil {
			t.Error("INCR was answered")
		}
	}
	if err := through.Incr(t.Context(), "n").Err(); err != nil {
		t.Errorf("after the dropped replies: %v", err)
	}
	wantValue(t, past, "n", "3")
	if got := proxy.Dropped(); got != 2 {
		t.Errorf("Dropped() = %d, want 2", got)
	}
}

func TestProxyDropsChosenReplies(t *testing.T) {
	t.Parallel()
	proxy, through, past := proxied(t)
	proxy.DropRepliesIf(func(request []byte) bool { return bytes.Contains(request, []byte("incr")) })
	set(t, through, "k", "v")
	if err := through.Incr(t.Context(), "n").Err(); err == nil {
		t.Error("INCR was answered")
	}
	proxy.DropRepliesIf(nil)
	if err := through.Incr(t.Context(), "n").Err(); err != nil {
		t.Error(err)
	}
	wantValue(t, past, "n", "2")
}

func TestProxyCutsConnections(t *testing.T) {
	t.Parallel()
	proxy, through, past := proxied(t)
	sub := through.Subscribe(t.Context(), "c")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.CutAll()
	if _, err := sub.Receive(t.Context()); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("receive on a cut connection: %v", err)
	}
	set(t, past, "k", "v")
	wantValue(t, through, "k", "v")
}

func TestProxyRefusesNewConnectionsOnly(t *testing.T) {
	t.Parallel()
	proxy, through, _ := proxied(t)
	sub := through.Subscribe(t.Context(), "c")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}

	proxy.Refuse(true)
	conn, err := net.Dial("tcp", proxy.Addr())
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
		_ = conn.Close()
	}
	if err == nil {
		t.Error("a new connection was served")
	}
	if err := sub.Ping(t.Context()); err != nil {
		t.Errorf("the old connection: %v", err)
	}
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Errorf("the old connection: %v", err)
	}

	proxy.Refuse(false)
	set(t, through, "k", "v")
}

func TestProxyBlackHole(t *testing.T) {
	t.Parallel()
	proxy, through, past := proxied(t)
	set(t, through, "k", "before")

	proxy.BlackHole(true)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantTimeout(t, through.Set(ctx, "k", "lost", 0).Err())
	wantValue(t, past, "k", "before")

	proxy.CutAll()
	proxy.BlackHole(false)
	wantValue(t, through, "k", "before")
}

func TestProxyDelaysReplies(t *testing.T) {
	t.Parallel()
	proxy, through, past := proxied(t)
	set(t, through, "k", "before")

	proxy.Delay(time.Hour)
	delayed := make(chan error, 1)
	go func() { delayed <- through.Set(t.Context(), "k", "after", 0).Err() }()
	for deadline := time.Now().Add(time.Minute); past.Get(t.Context(), "k").Val() != "after"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the request never arrived")
		}
	}
	proxy.CutAll()
	if err := <-delayed; err == nil {
		t.Error("the reply came at once")
	}

	proxy.Delay(time.Millisecond)
	wantValue(t, through, "k", "after")
}

func TestProxyDeafens(t *testing.T) {
	t.Parallel()
	proxy, through, past := proxied(t)
	listen := func() *redis.PubSub {
		sub := through.Subscribe(t.Context(), "news")
		t.Cleanup(func() { _ = sub.Close() })
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		return sub
	}
	sub := listen()
	proxy.Deafen()
	if err := past.Publish(t.Context(), "news", "unheard").Err(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); proxy.Kept() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was kept back")
		}
	}
	if err := sub.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := sub.ReceiveTimeout(t.Context(), time.Minute); err != nil {
		t.Error("the ping was not answered:", err)
	} else if _, ok := got.(*redis.Pong); !ok {
		t.Errorf("a deaf connection heard %v", got)
	}

	later := listen()
	if err := past.Publish(t.Context(), "news", "heard").Err(); err != nil {
		t.Fatal(err)
	}
	if m, err := later.ReceiveMessage(t.Context()); err != nil || m.Payload != "heard" {
		t.Errorf("a later connection got %v, %v", m, err)
	}
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	tests := []struct {
		request string
		want    bool
	}{
		{"*2\r\n$5\r\nhello\r\n$1\r\n3\r\n", true},
		{"*1\r\n$8\r\nREADONLY\r\n", true},
		{"*2\r\n$3\r\nget\r\n$6\r\nclient\r\n", false},
		{"*1\r\n$4", false},
		{"", false},
	}
	for _, tt := range tests {
		if got := redistest.Handshake([]byte(tt.request)); got != tt.want {
			t.Errorf("Handshake(%q) = %v", tt.request, got)
		}
	}
}
