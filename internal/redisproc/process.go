// Package redisproc finds redis-server and runs it as a child process that does not outlive
// its parent.
package redisproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Options configure a redis-server.
type Options struct {
	// Args is the complete configuration. The server reads no configuration file.
	Args []string

	// Env is the environment of the server; nil selects that of this process.
	Env []string

	// Files are inherited by the server. They stay open while the server or one of its
	// children runs.
	Files []*os.File

	// DeathSignal is sent to the server when this process ends for any reason. This works
	// only on Linux; elsewhere a server may outlive a killed process.
	DeathSignal syscall.Signal

	// Log is called with each line that the server prints; nil discards them.
	Log func(line string)
}

// Process is a running or ended redis-server.
type Process struct {
	cmd    *exec.Cmd
	output *lines
	done   chan struct{}
	err    error // result of the process; set before done is closed
}

// Start runs the redis-server at a path, in its own process group so that Ctrl-C in a terminal
// does not reach it. [Process.Ready] waits until the server answers.
func Start(path string, opts Options) (*Process, error) {
	p := &Process{
		cmd:    exec.Command(path, opts.Args...), //nolint:noctx // it runs until it is stopped, with a signal that a context does not send
		output: &lines{log: opts.Log},
		done:   make(chan struct{}),
	}
	p.cmd.Stdout = p.output
	p.cmd.Stderr = p.output
	p.cmd.Env = opts.Env
	p.cmd.ExtraFiles = opts.Files
	p.cmd.SysProcAttr = childAttr(opts.DeathSignal)
	// After the server is killed, a child of it that rewrites the append-only file may keep
	// the output open for a while.
	p.cmd.WaitDelay = time.Second

	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

func (p *Process) run(started chan<- error) {
	// Linux sends the death signal when the thread that forked ends, not when the process
	// ends. So this thread stays locked while the child runs.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	err = p.cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	p.err = err
	close(p.done)
}

// PID returns the process id of the server.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the server has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns the reason why the server ended, with the last lines that it printed. It is nil
// while the server runs, and after a normal end.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("redis-server: %w; last output: %s", p.err, p.output.tail())
}

// Signal sends a signal to the server. It succeeds if the server has already ended.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to redis-server: %w", sig, err)
	}
	return nil
}

// Stop makes the server store its data and end, and waits for it. If ctx is done first, Stop
// kills the server and returns an error.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.Err()
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("redis-server did not stop and was killed: %w", context.Cause(ctx)), p.Kill())
	}
}

// Kill kills the server, and waits until it has ended.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done // the kernel guarantees this
	return nil
}
