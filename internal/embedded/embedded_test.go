package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/embedded"
	"retwis/internal/redistest"
)

// asParent names a data directory. With it, the test binary starts a Redis on the directory,
// stores a value, prints a confirmation, and waits to be killed.
const asParent = "EMBEDDED_TEST_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asParent); dir != "" {
		if err := runParent(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	redistest.VerifyNoLeaks(m)
}

func runParent(dir string) error {
	ctx := context.Background()
	instance, err := embedded.Start(ctx, embedded.Options{DataDir: dir})
	if err != nil {
		return err
	}
	opts, err := redis.ParseURL(instance.URL())
	if err != nil {
		return err
	}
	if err := redis.NewClient(opts).Set(ctx, "k", "of the parent", 0).Err(); err != nil {
		return err
	}
	fmt.Println("stored")
	<-instance.Done()
	return errors.New("the child ended before its parent")
}

// logged collects a log that tests read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start starts a Redis that is closed at the end of the test.
func start(t *testing.T, opts embedded.Options) (*embedded.Instance, *logged) {
	t.Helper()
	log := new(logged)
	opts.Log = slog.New(slog.NewTextHandler(log, nil))
	instance, err := embedded.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = instance.Close(context.Background()) })
	return instance, log
}

func closed(t *testing.T, instance *embedded.Instance) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := instance.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, instance *embedded.Instance) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(instance.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.MaxRetries = -1
	opts.DialerRetries = 1
	c := redis.NewClient(opts)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func wantValue(t *testing.T, c *redis.Client, key, want string) {
	t.Helper()
	if got, err := c.Get(t.Context(), key).Result(); err != nil || got != want {
		t.Errorf("GET %s = %q, %v; want %q", key, got, err, want)
	}
}

func set(t *testing.T, c *redis.Client, key, value string) {
	t.Helper()
	if err := c.Set(t.Context(), key, value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}

// pid returns the process id of the server.
func pid(t *testing.T, c *redis.Client) int {
	t.Helper()
	info, err := c.InfoMap(t.Context(), "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(info["Server"]["process_id"])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStart_ConfiguresTheChildByArguments(t *testing.T) {
	t.Parallel()
	instance, _ := start(t, embedded.Options{DataDir: t.TempDir()})
	if instance.InProcess() {
		t.Fatal("it is an in-process Redis")
	}
	c := client(t, instance)
	for name, want := range map[string]string{
		"appendonly":                  "yes",
		"appendfsync":                 "everysec",
		"save":                        "",
		"port":                        "0",
		"maxmemory-policy":            "noeviction",
		"zset-max-listpack-entries":   "1024",
		"hash-max-listpack-value":     "1024",
		"list-max-listpack-size":      "100",
		"zset-max-ziplist-entries":    "1024", // the old name
		"cluster-enabled":             "no",
		"appenddirname":               "appendonlydir",
		"replica-serve-stale-data":    "yes",
		"stop-writes-on-bgsave-error": "yes",
	} {
		if got, err := c.ConfigGet(t.Context(), name).Result(); err != nil || got[name] != want {
			t.Errorf("CONFIG GET %s = %v, %v; want %q", name, got, err, want)
		}
	}
	info, err := c.InfoMap(t.Context(), "server").Result()
	if err != nil || info["Server"]["config_file"] != "" {
		t.Errorf("the configuration file is %q, %v", info["Server"]["config_file"], err)
	}
}

func TestStart_RunsTheChildInItsOwnProcessGroup(t *testing.T) {
	t.Parallel()
	instance, _ := start(t, embedded.Options{DataDir: t.TempDir()})
	child := pid(t, client(t, instance))
	if group, err := syscall.Getpgid(child); err != nil || group != child {
		t.Errorf("process %d is in group %d, %v", child, group, err)
	}
}

func TestStart_KeepsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "created", "if missing")
	first, _ := start(t, embedded.Options{DataDir: dir})
	set(t, client(t, first), "k", "v")
	closed(t, first)
	closed(t, first)

	second, _ := start(t, embedded.Options{DataDir: dir})
	wantValue(t, client(t, second), "k", "v")
	select {
	case <-first.Done():
		t.Error("Close closes Done")
	default:
	}
}

func TestStart_RefusesADirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, _ := start(t, embedded.Options{DataDir: dir})
	_, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	if !errors.Is(err, embedded.ErrInUse) || !strings.Contains(err.Error(), dir) ||
		!strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("the second start returned %v", err)
	}
	set(t, client(t, first), "k", "still running")
}

func TestStart_FailsOnUnusableDirectories(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	broken := t.TempDir()
	if err := errors.Join(
		os.WriteFile(file, nil, 0o600),
		os.Mkdir(filepath.Join(broken, "appendonlydir"), 0o700),
		os.WriteFile(filepath.Join(broken, "appendonlydir", "appendonly.aof.manifest"), []byte("rubbish\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, dir, want string }{
		{"without a directory", "", "no data directory"},
		{"on a file", file, "not a directory"},
		{"on unreadable data", broken, "manifest"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the first attempt leaves nothing behind
				_, err := embedded.Start(t.Context(), embedded.Options{DataDir: tt.dir})
				if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, embedded.ErrInUse) {
					t.Errorf("Start() = %v, want an error with %q", err, tt.want)
				}
			}
		})
	}
}

func TestInstance_ReportsTheDeathOfTheChild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	instance, log := start(t, embedded.Options{DataDir: dir})
	if err := syscall.Kill(pid(t, client(t, instance)), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-instance.Done()
	if !strings.Contains(log.String(), "ended unexpectedly") {
		t.Errorf("logged:\n%s", log)
	}
	if err := instance.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Close() = %v, want the signal", err)
	}
	start(t, embedded.Options{DataDir: dir})
}

func TestStart_WaitsForTheChildOfAKilledProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	parent := exec.Command(os.Args[0])
	tmp, err := os.MkdirTemp("", "em") // short, because it contains a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	parent.Env = append(os.Environ(), asParent+"="+dir, "TMPDIR="+tmp)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("stored"))
	_, readErr := io.ReadFull(out, said)
	killErr := parent.Process.Kill()
	_ = parent.Wait() // it was killed
	if err := errors.Join(readErr, killErr); err != nil || string(said) != "stored" {
		t.Fatalf("the parent printed %q, %v", said, err)
	}

	instance, _ := start(t, embedded.Options{DataDir: dir})
	wantValue(t, client(t, instance), "k", "of the parent")
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("the killed process has left files: %v, %v", left, err)
	}
}

func TestStart_WaitsForLoading(t *testing.T) {
	// Not parallel: it changes the PATH.
	dir := t.TempDir()
	first, _ := start(t, embedded.Options{DataDir: dir})
	c := client(t, first)
	const entries = 4000 // while loading, the server answers after each 1024
	if _, err := c.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for i := range entries {
			p.Set(t.Context(), strconv.Itoa(i), "v", 0)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	closed(t, first)

	redisServer(t, `exec `+realServer(t)+` "$@" --key-load-delay 200`)
	second, log := start(t, embedded.Options{DataDir: dir})
	if n, err := client(t, second).DBSize(t.Context()).Result(); err != nil || n != entries {
		t.Errorf("DBSIZE = %d, %v; want %d", n, err, entries)
	}
	if !strings.Contains(log.String(), "is loading its data") {
		t.Errorf("logged:\n%s", log)
	}
}

// redisServer replaces redis-server by a shell script for the rest of the test.
func redisServer(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "redis-server"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func realServer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("apt-get install redis-server: %v", err)
	}
	return path
}
