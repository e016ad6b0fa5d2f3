// Package fault runs the service on a Redis of its own and injects faults into both.
package fault

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options configure an environment.
type Options struct {
	Binary    string // path of the service's binary
	Dir       string // for data and logs; initially empty
	Cluster   bool   // three masters with a replica each, in place of one Redis
	HomeCap   int    // entries of a home; 0 takes the default of the service
	Fsync     string // appendfsync of Redis
	Clock     bool   // whether the clock of Redis can be moved
	PullAbove int    // followers above which an author is a large author; 0 takes the default of the service
}

// Lease is the lease of the workers: the time that the outboxes of a dead worker wait.
const Lease = time.Second

// startTime bounds how long a process may take to become ready.
const startTime = 30 * time.Second

// restartPause is the pause before a process that ended by itself is started again.
const restartPause = 200 * time.Millisecond

// process is one process of the service. It is started again when it ends by itself, as a supervisor does: a process
// that starts during an outage of Redis ends with an error.
type process struct {
	url  string // of an API process
	done chan struct{}

	mu     sync.Mutex
	cmd    *exec.Cmd
	ending bool // whether it must not be started again
}

// Environment is a running service: two API processes and two workers.
type Environment struct {
	options Options
	redis   *redisGroup
	log     *os.File

	mu      sync.Mutex
	apis    []*process
	workers []*process
}

// Start starts Redis and the service. Close ends both.
func Start(ctx context.Context, o Options) (*Environment, error) {
	log, err := os.Create(o.Dir + "/service.log")
	if err != nil {
		return nil, fmt.Errorf("create the log of the service: %w", err)
	}
	e := &Environment{options: o, log: log}
	if e.redis, err = startRedis(ctx, o); err != nil {
		e.Close()
		return nil, err
	}
	for range 2 {
		api, err := e.startAPI(ctx, "")
		if err != nil {
			e.Close()
			return nil, err
		}
		worker, err := e.startWorker(ctx)
		if err != nil {
			api.end(syscall.SIGKILL)
			e.Close()
			return nil, err
		}
		e.apis, e.workers = append(e.apis, api), append(e.workers, worker)
	}
	return e, nil
}

// Close kills all processes.
func (e *Environment) Close() {
	for _, p := range slices.Concat(e.apis, e.workers) {
		p.end(syscall.SIGKILL)
	}
	if e.redis != nil {
		e.redis.close()
	}
	_ = e.log.Close()
}

// Endpoints returns the base URLs of the API processes.
func (e *Environment) Endpoints() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	urls := make([]string, len(e.apis))
	for i, p := range e.apis {
		urls[i] = p.url
	}
	return urls
}

// arguments returns the arguments that all processes of the service share.
func (e *Environment) arguments(command string) []string {
	args := []string{command, "--redis-url", e.redis.url(), "--worker-lease", Lease.String(), "--log-level", "warn"}
	if e.options.HomeCap > 0 {
		args = append(args, "--home-cap", fmt.Sprint(e.options.HomeCap))
	}
	if e.options.PullAbove > 0 {
		args = append(args, "--pull-above", fmt.Sprint(e.options.PullAbove))
	}
	return args
}

// startAPI starts an API process, at an address if one is given, and waits until it is ready.
func (e *Environment) startAPI(ctx context.Context, address string) (*process, error) {
	if address == "" {
		var err error
		if address, err = freeAddress(ctx); err != nil {
			return nil, err
		}
	}
	p, err := e.launch(append(e.arguments("serve"), "--no-worker", "--rate-limits", "off", "--drain-time", "500ms", "--listen", address))
	if err != nil {
		return nil, err
	}
	p.url = "http://" + address
	err = p.await(ctx, func() bool {
		client := http.Client{Timeout: time.Second}
		response, err := client.Get(p.url + "/readyz") //nolint:noctx // bounded by the client's time-out
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	if err != nil {
		p.end(syscall.SIGKILL)
		return nil, err
	}
	return p, nil
}

// startWorker starts a worker. It does not wait, because another worker serves its outboxes meanwhile.
func (e *Environment) startWorker(context.Context) (*process, error) {
	return e.launch(e.arguments("worker"))
}

func (e *Environment) launch(args []string) (*process, error) {
	command := func() *exec.Cmd {
		cmd := exec.Command(e.options.Binary, args...) //nolint:noctx // it runs until a fault ends it
		cmd.Stdout, cmd.Stderr = io.Discard, e.log
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RETWIS_") })
		return cmd
	}
	p := &process{cmd: command(), done: make(chan struct{})}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	go func() {
		defer close(p.done)
		for {
			_ = p.cmd.Wait() // the reason is in the log
			time.Sleep(restartPause)
			if !p.restart(command()) {
				return
			}
		}
	}()
	return p, nil
}

// restart starts the process again, unless it was ended.
func (p *process) restart(cmd *exec.Cmd) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending || cmd.Start() != nil {
		return false
	}
	p.cmd = cmd
	return true
}

// signal sends a signal to the process.
func (p *process) signal(sig os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Signal(sig)
}

// end sends a signal that ends the process, and waits until it has ended.
func (p *process) end(sig syscall.Signal) {
	p.mu.Lock()
	p.ending = true
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	_ = p.cmd.Process.Signal(sig)
	p.mu.Unlock()
	<-p.done
}

func (p *process) await(ctx context.Context, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for !ready() {
		select {
		case <-p.done:
			return fmt.Errorf("the process at %s cannot be started", p.url)
		case <-ctx.Done():
			return fmt.Errorf("the process at %s was not ready in %s", p.url, startTime)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// freeAddress returns an address on which nothing listens.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String(), nil
}
