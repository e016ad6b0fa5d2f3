package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// Server is a server in a process of its own.
type Server struct {
	URL string
	cmd *exec.Cmd
}

// startTime is how long a server may take to become ready.
const startTime = 15 * time.Second

// StartServer starts a program that takes --listen and answers /readyz once it is ready.
func StartServer(ctx context.Context, binary string, args ...string) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	s := &Server{URL: "http://" + address}
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), binary, append(args, "--listen", address)...)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if s.ready(ctx) {
			return s, nil
		}
	}
	s.Stop()
	return nil, fmt.Errorf("%s does not become ready within %s", binary, startTime)
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
	_ = s.cmd.Wait()
}
