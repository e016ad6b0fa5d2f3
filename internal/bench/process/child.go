package process

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"retwis/internal/gctuner"
)

// A Server is what a child process runs.
type Server struct {
	Serve     func(context.Context, net.Listener) error
	Usage     func(*Usage) // adds what only the server knows; may be nil
	Broadcast func([]byte) // sends a message to all subscribers; may be nil
	Close     func()       // releases what Serve needed; may be nil
}

// Lines of the protocol between the two processes. Any other line is a message to broadcast. The child
// answers each line with its usage.
const (
	lineUsage   = "usage"
	lineCollect = "collect" // and collect garbage before
)

// Main is the main function of a child. It prints its address, answers each line of its input, and
// ends when the input ends.
func Main(ctx context.Context, s Server, in io.Reader, out io.Writer) error {
	if s.Close != nil {
		defer s.Close()
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { _ = gctuner.Tune(ctx) }) // as the service does
	serving := make(chan error, 1)
	wg.Go(func() { serving <- s.Serve(ctx, listener) })
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	answered := make(chan error, 1)
	go func() { answered <- answer(s, in, out) }() // it ends with the input, at the latest with the process
	select {
	case err := <-serving:
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("the server ended by itself: %w", cmp.Or(err, errors.New("no error")))
	case err := <-answered:
		return err
	}
}

func answer(s Server, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch line = strings.TrimSpace(line); line {
		case lineUsage:
		case lineCollect:
			debug.FreeOSMemory()
		default:
			s.Broadcast([]byte(line))
		}
		u, err := OwnUsage()
		if err != nil {
			return err
		}
		if s.Usage != nil {
			s.Usage(&u)
		}
		if err := json.NewEncoder(out).Encode(u); err != nil {
			return err
		}
	}
}

// Child is a server in a process of its own, so that its CPU time and memory can be measured. It is
// this program, with the command child.
type Child struct {
	Kind    string
	Address string
	cmd     *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
}

// StartChild starts a server of a kind on the database of a Redis.
func StartChild(ctx context.Context, kind, redisURL string) (*Child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return StartChildOf(ctx, self, kind, redisURL)
}

// StartChildOf is [StartChild] for another build of this program.
func StartChildOf(ctx context.Context, program, kind, redisURL string) (c *Child, err error) {
	c = &Child{Kind: kind, cmd: exec.CommandContext(ctx, program, "child", kind, "--redis-url", redisURL)}
	c.cmd.Stderr = os.Stderr
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.output = bufio.NewReader(output)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server %s: %w", kind, err)
	}
	address, err := c.output.ReadString('\n')
	if err != nil {
		c.Stop()
		return nil, fmt.Errorf("start a server %s: %w", kind, err)
	}
	c.Address = strings.TrimSpace(address)
	return c, nil
}

// URL returns where the server is.
func (c *Child) URL() string { return "http://" + c.Address }

// Usage returns the usage of the server.
func (c *Child) Usage() (Usage, error) { return c.send(lineUsage) }

// Collect makes the server collect garbage, and returns its usage.
func (c *Child) Collect() (Usage, error) { return c.send(lineCollect) }

// Broadcast makes the server send a message to its subscribers.
func (c *Child) Broadcast(message string) error {
	_, err := c.send(message)
	return err
}

func (c *Child) send(line string) (u Usage, err error) {
	if _, err := io.WriteString(c.input, line+"\n"); err != nil {
		return u, fmt.Errorf("server %s: %w", c.Kind, err)
	}
	response, err := c.output.ReadString('\n')
	if err != nil {
		return u, fmt.Errorf("server %s: %w", c.Kind, err)
	}
	return u, json.Unmarshal([]byte(response), &u)
}

// Stop ends the server and waits for it.
func (c *Child) Stop() {
	_ = c.input.Close()
	_ = c.cmd.Wait() // its errors are on its standard error
}

// ServeHTTP returns a function for [Server.Serve] that serves a handler.
func ServeHTTP(handler http.Handler) func(context.Context, net.Listener) error {
	return func(ctx context.Context, listener net.Listener) error {
		srv := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
		defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
		return srv.Serve(listener)
	}
}
