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

// proxied returns a proxy in front of a server, a client of the proxy that does not retry,
// and a client of the server.
func proxied(t *testing.T) (proxy *redistest.FaultProxy, through, direct *redis.Client) {
	t.Helper()
	server := redistest.Server(t)
	proxy = server.Proxy()
	return proxy, withoutRetries(t, proxy.URL()), server.Client()
}

func TestProxy_Forwards(t *testing.T) {
	t.Parallel()
	_, through, direct := proxied(t)
	large := string(bytes.Repeat([]byte("x"), 1<<20))
	set(t, through, "k", large)
	wantValue(t, direct, "k", large)
	wantValue(t, through, "k", large)
}

func TestDropReplies_DropsTheNextReplies(t *testing.T) {
	t.Parallel()
	proxy, through, direct := proxied(t)
	proxy.DropReplies(2)
	for range 2 {
		if err := through.Incr(t.Context(), "n").Err(); err == nil {
			t.Error("INCR returned a reply")
		}
	}
	if err := through.Incr(t.Context(), "n").Err(); err != nil {
		t.Errorf("after the dropped replies: %v", err)
	}
	wantValue(t, direct, "n", "3")
	if got := proxy.DroppedReplies(); got != 2 {
		t.Errorf("DroppedReplies() = %d, want 2", got)
	}
}

func TestDropRepliesIf_DropsChosenReplies(t *testing.T) {
	t.Parallel()
	proxy, through, direct := proxied(t)
	proxy.DropRepliesIf(func(request []byte) bool { return bytes.Contains(request, []byte("incr")) })
	set(t, through, "k", "v")
	if err := through.Incr(t.Context(), "n").Err(); err == nil {
		t.Error("INCR returned a reply")
	}
	proxy.DropRepliesIf(nil)
	if err := through.Incr(t.Context(), "n").Err(); err != nil {
		t.Error(err)
	}
	wantValue(t, direct, "n", "2")
}

func TestResetAll_ResetsOpenConnections(t *testing.T) {
	t.Parallel()
	proxy, through, direct := proxied(t)
	sub := through.Subscribe(t.Context(), "c")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.ResetAll()
	if _, err := sub.Receive(t.Context()); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("receive on a reset connection: %v", err)
	}
	set(t, direct, "k", "v")
	wantValue(t, through, "k", "v")
}

func TestRefuse_SparesOpenConnections(t *testing.T) {
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
		t.Error("a new connection was accepted")
	}
	if err := sub.Ping(t.Context()); err != nil {
		t.Errorf("the open connection: %v", err)
	}
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Errorf("the open connection: %v", err)
	}

	proxy.Refuse(false)
	set(t, through, "k", "v")
}

func TestBlackHole_StopsBothDirections(t *testing.T) {
	t.Parallel()
	proxy, through, direct := proxied(t)
	set(t, through, "k", "before")

	proxy.BlackHole(true)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantTimeout(t, through.Set(ctx, "k", "lost", 0).Err())
	wantValue(t, direct, "k", "before")

	proxy.ResetAll()
	proxy.BlackHole(false)
	wantValue(t, through, "k", "before")
}

func TestDelay_DelaysReplies(t *testing.T) {
	t.Parallel()
	proxy, through, direct := proxied(t)
	set(t, through, "k", "before")

	proxy.Delay(time.Hour)
	delayed := make(chan error, 1)
	go func() { delayed <- through.Set(t.Context(), "k", "after", 0).Err() }()
	for deadline := time.Now().Add(time.Minute); direct.Get(t.Context(), "k").Val() != "after"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the request did not arrive")
		}
	}
	proxy.ResetAll()
	if err := <-delayed; err == nil {
		t.Error("the reply was not delayed")
	}

	proxy.Delay(time.Millisecond)
	wantValue(t, through, "k", "after")
}

func TestDropPushes_KeepsReplies(t *testing.T) {
	t.Parallel()
	proxy, through, direct := proxied(t)
	listen := func() *redis.PubSub {
		sub := through.Subscribe(t.Context(), "news")
		t.Cleanup(func() { _ = sub.Close() })
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		return sub
	}
	sub := listen()
	proxy.DropPushes()
	if err := direct.Publish(t.Context(), "news", "dropped").Err(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); proxy.DroppedPushes() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no push was dropped")
		}
	}
	if err := sub.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := sub.ReceiveTimeout(t.Context(), time.Minute); err != nil {
		t.Error("no reply to the ping:", err)
	} else if _, ok := got.(*redis.Pong); !ok {
		t.Errorf("got %v, want a pong", got)
	}

	later := listen()
	if err := direct.Publish(t.Context(), "news", "delivered").Err(); err != nil {
		t.Fatal(err)
	}
	if m, err := later.ReceiveMessage(t.Context()); err != nil || m.Payload != "delivered" {
		t.Errorf("a later connection got %v, %v", m, err)
	}
}

func TestHandshake_RecognisesCommands(t *testing.T) {
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
