// Package redisproc finds redis-server and runs it as a child process that does
// not outlive the process that started it.
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

// Options say how to run a redis-server.
type Options struct {
	// Args is the whole configuration: no configuration file is read.
	Args []string

	// Files are inherited by the server, and stay open for as long as it or a child
	// of its own lives.
	Files []*os.File

	// DeathSignal is sent to the server when this process dies, however it dies.
	// Only Linux can do that; elsewhere a server may outlive a killed process.
	DeathSignal syscall.Signal

	// Log is called with each line that the server prints; nil drops them.
	Log func(line string)
}

// Process is a running redis-server, or one that has ended.
type Process struct {
	cmd    *exec.Cmd
	output *lines
	done   chan struct{}
	err    error // how it ended; set before done is closed
}

// Start runs the redis-server at the path, in a process group of its own so that
// a Ctrl-C in the terminal reaches only us. It does not wait until the server
// answers: that is [Process.Ready].
func Start(path string, opts Options) (*Process, error) {
	p := &Process{
		cmd:    exec.Command(path, opts.Args...), //nolint:noctx // it runs until it is stopped, with a signal that a context does not send
		output: &lines{log: opts.Log},
		done:   make(chan struct{}),
	}
	p.cmd.Stdout = p.output
	p.cmd.Stderr = p.output
	p.cmd.ExtraFiles = opts.Files
	p.cmd.SysProcAttr = childAttr(opts.DeathSignal)
	// A child of the server that rewrites the append-only file holds its output open
	// for a while after the server itself was killed.
	p.cmd.WaitDelay = time.Second

	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

func (p *Process) run(started chan<- error) {
	// Linux sends the death signal when the thread that forked ends, which need not
	// be when the process does. So this thread does nothing else while the child lives.
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

// Err says how the server ended, with the last lines it printed. It is nil when
// it still runs or ended well.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("redis-server: %w; it printed last: %s", p.err, p.output.tail())
}

// Signal sends a signal to the server. That it has ended already is no error.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to redis-server: %w", sig, err)
	}
	return nil
}

// Stop asks the server to write what it holds and end, and waits until it has.
// When ctx is done before that, the server is killed, and the error says so.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.Err()
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("redis-server did not stop, and was killed: %w", context.Cause(ctx)), p.Kill())
	}
}

// Kill ends the server at once, and waits until it has ended.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done // the kernel sees to that, whatever the server was doing
	return nil
}
