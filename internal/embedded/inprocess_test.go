package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/embedded"
)

func TestStart_FallsBackToAnInProcessRedis(t *testing.T) {
	// Not parallel: the subtests change the PATH.
	tests := []struct {
		name   string
		script string
		logged string
	}{
		{"not installed", "", "neither redis-server nor valkey-server is on the PATH"},
		{"too old", "echo Redis server v=6.2.14 sha=00000000:0", "is version 6.2.14: version 7 or later is required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			if tt.script != "" {
				redisServer(t, tt.script)
			}
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "appendonlydir"), 0o700); err != nil {
				t.Fatal(err)
			}
			instance, log := start(t, embedded.Options{DataDir: dir})
			if !instance.InProcess() {
				t.Error("it runs as a child process")
			}
			for _, want := range []string{tt.logged, "its data is lost", "not using the data of earlier runs"} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q:\n%s", want, log)
				}
			}
			c := client(t, instance)
			set(t, c, "k", "v")
			wantValue(t, c, "k", "v")
		})
	}
}

func TestMemory_LosesDataOnClose(t *testing.T) {
	t.Parallel()
	first, log := start(t, embedded.Options{Memory: true})
	if !first.InProcess() || !strings.Contains(log.String(), "its data is lost") {
		t.Errorf("InProcess() = %v; logged:\n%s", first.InProcess(), log)
	}
	set(t, client(t, first), "k", "v")
	closed(t, first)
	closed(t, first)

	second, _ := start(t, embedded.Options{Memory: true})
	if n, err := client(t, second).Exists(t.Context(), "k").Result(); err != nil || n != 0 {
		t.Errorf("EXISTS = %d, %v", n, err)
	}
}

func TestMemory_RequiresThePassword(t *testing.T) {
	t.Parallel()
	instance, _ := start(t, embedded.Options{Memory: true})
	opts, err := redis.ParseURL(instance.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.Username, opts.Password = "", ""
	other := redis.NewClient(opts)
	defer other.Close()
	if err := other.Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("PING without the password: %v", err)
	}
}

func TestMemory_ClosesWhileAClientBlocks(t *testing.T) {
	t.Parallel()
	instance, _ := start(t, embedded.Options{Memory: true})
	c := client(t, instance)
	sub := c.Subscribe(t.Context(), "c")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		read <- c.XRead(t.Context(), &redis.XReadArgs{Streams: []string{"s", "0"}, Block: time.Hour}).Err()
	}()
	closed(t, instance)
	if err := <-read; err == nil {
		t.Error("XREAD succeeded on a closed Redis")
	}
}
