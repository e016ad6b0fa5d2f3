package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"retwis/internal/programtest"
)

// patience bounds every wait. It is long, because a machine that runs many tests at once can be slow.
const patience = 60 * time.Second

// program is the path of the program under test, built once for all tests.
var program string

func TestMain(m *testing.M) {
	if text := os.Getenv(loadVariable); text != "" {
		runLoad(text)
		return
	}
	programtest.Main(m, func(dir string) (err error) {
		program, err = programtest.Build(dir, "retwis", programtest.RaceDetector)
		return err
	})
}

// process is a running program.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string // of its API, once it is ready
	stdout *output
	stderr *output
	ended  chan struct{}
}

// environment returns the environment of a process: without the RETWIS_* variables of the tests, with a free port,
// without rate limits, because all clients have the same address, and without delays at shutdown. Settings are "NAME=value";
// later ones override earlier ones.
func environment(settings ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir(),
		"RETWIS_LISTEN=127.0.0.1:0", "RETWIS_RATE_LIMITS=off", "RETWIS_DRAIN_TIME=0s", "RETWIS_SHUTDOWN_DELAY=0s",
	}
	return append(env, settings...)
}

// launch starts the program. It is killed when the test ends.
func launch(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return launchCommand(t, env, program, args...)
}

// launchCommand is [launch] for a command that becomes the program.
func launchCommand(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(name, args...), stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
	p.cmd.Env = env
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.WaitDelay = patience
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // ProcessState has the result
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("retwis %s\nprinted\n%s\nand logged\n%s", strings.Join(args, " "), p.stdout, p.stderr)
		}
		if strings.Contains(p.stderr.String(), "DATA RACE") {
			t.Errorf("the race detector reports:\n%s", p.stderr)
		}
	})
	return p
}

// serve starts the service on a free port and waits until it is ready.
func serve(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := launch(t, env, slices.Concat([]string{"serve", "--listen", "127.0.0.1:0"}, args)...)
	line := p.await(p.stdout, "Retwis is ready at ")
	_, rest, _ := strings.Cut(line, "Retwis is ready at ")
	p.url, _, _ = strings.Cut(rest, " ")
	return p
}

// await waits for a line that contains a text, and returns it.
func (p *process) await(o *output, text string) string {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		changed := o.changed()
		for line := range strings.Lines(o.String()) {
			if strings.Contains(line, text) && strings.HasSuffix(line, "\n") {
				return strings.TrimSpace(line)
			}
		}
		select {
		case <-changed:
		case <-p.ended:
			if !strings.Contains(o.String(), text) {
				p.t.Fatalf("it ended with code %d and did not print %q", p.code(), text)
			}
		case <-deadline:
			p.t.Fatalf("it did not print %q", text)
		}
	}
}

// code waits until the process has ended and returns its exit code.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("it is still running")
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// stop asks the process to end, and checks its exit code.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.code(); code != 0 {
		p.t.Fatalf("it ended with code %d", code)
	}
}

// invoke runs the program to its end.
func invoke(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := launch(t, env, args...)
	code = p.code()
	return code, p.stdout.String(), p.stderr.String()
}

// output is the output of a process.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed at the next write
}

func newOutput() *output { return &output{more: make(chan struct{})} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.more)
	o.more = make(chan struct{})
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.more
}

// eventually waits until a condition holds. It fails the test if it does not.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("timeout: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
