package redistest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func set(t *testing.T, c redis.Cmdable, key, value string) {
	t.Helper()
	if err := c.Set(t.Context(), key, value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func wantValue(t *testing.T, c redis.Cmdable, key, want string) {
	t.Helper()
	got, err := c.Get(t.Context(), key).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	if err != nil || got != want {
		t.Errorf("GET %s = %q, %v; want %q", key, got, err, want)
	}
}

// wantTimeout accepts an expired deadline of the context or of the connection: either may
// be noticed first.
func wantTimeout(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got the error %v, want an expired deadline", err)
	}
}

// withoutRetries returns a client that does not retry commands.
func withoutRetries(t *testing.T, url string) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	opts.MaxRetries = -1
	opts.DialerRetries = 1
	opts.ContextTimeoutEnabled = true
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestServer_IsPrivate(t *testing.T) {
	t.Parallel()
	a, b := redistest.Server(t), redistest.Server(t)
	set(t, a.Client(), "k", "v")
	wantValue(t, b.Client(), "k", "")
}

func TestServer_PassesArguments(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t, "--zset-max-listpack-entries", "1024")
	got, err := server.Client().ConfigGet(t.Context(), "zset-max-listpack-entries").Result()
	if err != nil || got["zset-max-listpack-entries"] != "1024" {
		t.Errorf("CONFIG GET = %v, %v", got, err)
	}
}

func TestStart_AfterStopKillOrPause(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		down func(*redistest.Node)
		want string
	}{
		{"loses data by default", nil, (*redistest.Node).Stop, ""},
		{"keeps data with persistence", []string{"--appendonly", "yes"}, (*redistest.Node).Stop, "v"},
		{"keeps data after a crash", []string{"--appendonly", "yes", "--appendfsync", "always"}, (*redistest.Node).Kill, "v"},
		{
			"stops while paused",
			[]string{"--appendonly", "yes"},
			func(n *redistest.Node) { n.Pause(); n.Stop() },
			"v",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Server(t, tt.args...)
			client := withoutRetries(t, server.URL())
			set(t, client, "k", "v")
			tt.down(server)
			if err := client.Ping(t.Context()).Err(); err == nil {
				t.Error("a stopped server answers")
			}
			server.Start()
			wantValue(t, client, "k", tt.want)
		})
	}
}

func TestPause_StopsReplies(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	client := server.Client()
	set(t, client, "k", "v")

	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantTimeout(t, client.Get(ctx, "k").Err())

	server.Resume()
	wantValue(t, client, "k", "v")
}

func BenchmarkServer(b *testing.B) {
	for b.Loop() {
		redistest.Server(b).Kill()
	}
}

func TestServer_MissingBinaryNamesPackage(t *testing.T) {
	t.Parallel()
	binary := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServer_IsPrivate$")
	binary.Env = append(os.Environ(), "PATH="+t.TempDir(), "RETWIS_TEST_REDIS=")
	out, err := binary.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "apt-get install redis-server") {
		t.Errorf("without redis-server the test ended with %v and printed:\n%s", err, out)
	}
}
