package redisproc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"retwis/internal/redisproc"
)

func args(socket string) []string {
	return []string{"--port", "0", "--unixsocket", socket, "--save", "", "--dir", filepath.Dir(socket)}
}

// socket returns a path short enough for a unix socket; those of t.TempDir may be too long.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func start(t *testing.T, opts redisproc.Options) *redisproc.Process {
	t.Helper()
	path, err := redisproc.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	opts.DeathSignal = syscall.SIGKILL
	p, err := redisproc.Start(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestProcess_AnswersAndStops(t *testing.T) {
	t.Parallel()
	addr := socket(t)
	p := start(t, redisproc.Options{Args: args(addr)})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := p.Ready(ctx, "unix", addr, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Err(); err != nil {
		t.Errorf("a running server has ended: %v", err)
	}
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("a signal to a server that has ended: %v", err)
	}
}

func TestStop_KillsAServerThatDoesNotStop(t *testing.T) {
	t.Parallel()
	addr := socket(t)
	p := start(t, redisproc.Options{Args: args(addr)})
	if err := p.Ready(t.Context(), "unix", addr, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil { // a stopped process handles no SIGTERM
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop() = %v, want a cancelled context", err)
	}
	<-p.Done()
}

func TestReady_ReportsTheOutputOfAFailedStart(t *testing.T) {
	t.Parallel()
	addr := socket(t)
	var printed []string
	p := start(t, redisproc.Options{
		Args: append(args(addr), "--maxmemory-policy", "sometimes"),
		Log:  func(line string) { printed = append(printed, line) },
	})
	err := p.Ready(t.Context(), "unix", addr, nil)
	if err == nil || !strings.Contains(err.Error(), "maxmemory-policy") {
		t.Errorf("Ready() = %v, want the output of redis-server", err)
	}
	if !strings.Contains(strings.Join(printed, "\n"), "FATAL CONFIG FILE ERROR") {
		t.Errorf("logged %q", printed)
	}
}

func TestReady_StopsWithTheContext(t *testing.T) {
	t.Parallel()
	addr := socket(t)
	p := start(t, redisproc.Options{Args: args(addr)})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.Ready(ctx, "unix", addr+"elsewhere", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Ready() = %v, want a passed deadline", err)
	}
}

func TestReady_ReportsLoading(t *testing.T) {
	t.Parallel()
	addr := socket(t)
	ln, err := net.Listen("unix", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	served := make(chan error, 1)
	go func() { served <- serveLoading(ln) }()

	// The test answers for the server; the process only has to run.
	p := start(t, redisproc.Options{Args: args(addr + "elsewhere")})
	var progress []redisproc.Loading
	if err := p.Ready(t.Context(), "unix", addr, func(l redisproc.Loading) { progress = append(progress, l) }); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if len(progress) != 1 || progress[0] != (redisproc.Loading{Loaded: 30, Total: 120}) {
		t.Errorf("progress is %+v", progress)
	}
}

// serveLoading answers the first connection like a loading server, and the second like a ready one.
func serveLoading(ln net.Listener) error {
	const info = "# Persistence\r\nloading:1\r\nloading_total_bytes:120\r\nloading_loaded_bytes:30\r\n"
	for _, replies := range [][]string{
		{"-LOADING Redis is loading the dataset in memory\r\n", fmt.Sprintf("$%d\r\n%s\r\n", len(info), info)},
		{"+PONG\r\n"},
	} {
		conn, err := ln.Accept()
		if err != nil {
			return err
		}
		r := bufio.NewReader(conn)
		for _, reply := range replies {
			if _, err := r.ReadString('\n'); err != nil {
				return err
			}
			if _, err := conn.Write([]byte(reply)); err != nil {
				return err
			}
		}
		if err := conn.Close(); err != nil {
			return err
		}
	}
	return nil
}
