package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Server is a server in a process of its own.
type Server struct {
	URL   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// startTime is how long a server may take to become ready.
const startTime = 15 * time.Second

// StartServer starts a program that takes --listen and answers /readyz once it is ready. It
// gets none of our variables: what is measured is what the arguments say.
func StartServer(ctx context.Context, binary string, args ...string) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	s := &Server{URL: "http://" + address, ended: make(chan struct{})}
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), binary, append(args, "--listen", address)...)
	s.cmd.Stderr = os.Stderr
	s.cmd.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool { return strings.HasPrefix(setting, "RETWIS_") })
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // how it ended, it has said itself
	}()
	waiting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for !s.ready(waiting) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.ended:
			return nil, fmt.Errorf("%s ended before it was ready: %s", binary, s.cmd.ProcessState)
		case <-waiting.Done():
			s.Stop()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%s does not become ready within %s", binary, startTime)
		}
	}
	return s, nil
}

func (s *Server) ready(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
	if err != nil {
		return false
	}
	client := http.Client{Timeout: time.Second}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Stop ends the server and waits for it.
func (s *Server) Stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	<-s.ended
}
