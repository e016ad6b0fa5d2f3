package redisproc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"retwis/internal/redisproc"
	"retwis/internal/redistest"
)

// asParent names a socket. With it, the test binary starts a server, prints its process id, and
// waits to be killed.
const asParent = "REDISPROC_TEST_PARENT"

func TestMain(m *testing.M) {
	if socket := os.Getenv(asParent); socket != "" {
		if err := runParent(socket); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	redistest.VerifyNoLeaks(m)
}

func runParent(socket string) error {
	ctx := context.Background()
	path, err := redisproc.Find(ctx)
	if err != nil {
		return err
	}
	p, err := redisproc.Start(path, redisproc.Options{Args: args(socket), DeathSignal: syscall.SIGTERM})
	if err != nil {
		return err
	}
	if err := p.Ready(ctx, "unix", socket, nil); err != nil {
		return err
	}
	fmt.Println(p.PID())
	<-p.Done()
	return errors.New("the server ended before its parent")
}

func TestProcess_EndsWithItsParent(t *testing.T) {
	t.Parallel()
	// The orphan becomes a child of this process, which can then wait for it.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asParent+"="+socket(t))
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	killErr := parent.Process.Kill()
	_ = parent.Wait() // it was killed
	if err := errors.Join(readErr, killErr); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the parent printed %q", line)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	if !status.Exited() || status.ExitStatus() != 0 {
		t.Errorf("redis-server ended with status %d, want a normal end", status)
	}
}
