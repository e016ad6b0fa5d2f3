// Package process runs what is measured in processes of its own: the service, and the servers that it
// is compared with.
package process

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Service is the service, or a worker of it, in a process of its own.
type Service struct {
	URL   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// startTime is how long the service may take to become ready.
const startTime = 15 * time.Second

// BuildService builds the service's binary into a directory, from the source in the working directory, and
// returns its path.
func BuildService(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "retwis")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/retwis").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the service: %w: %s", err, out)
	}
	return path, nil
}

// StartService starts the service and returns once /readyz answers. The process gets no RETWIS_*
// variables of this process, so that the arguments alone configure it.
func StartService(ctx context.Context, binary string, args ...string) (*Service, error) {
	return start(ctx, binary, "serve", "--listen", args)
}

// StartWorker does the same for a worker without an API.
func StartWorker(ctx context.Context, binary string, args ...string) (*Service, error) {
	return start(ctx, binary, "worker", "--metrics-listen", args)
}

// start starts a command of the binary that answers at an address, which it takes from a flag.
func start(ctx context.Context, binary, command, addressFlag string, args []string) (*Service, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	s := &Service{URL: "http://" + address, ended: make(chan struct{})}
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), binary, slices.Concat([]string{command}, args, []string{addressFlag, address})...)
	s.cmd.Stderr = os.Stderr
	s.cmd.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool { return strings.HasPrefix(setting, "RETWIS_") })
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // its errors are on its standard error
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
			return nil, fmt.Errorf("%s is not ready after %s", binary, startTime)
		}
	}
	return s, nil
}

func (s *Service) ready(ctx context.Context) bool {
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

// Stop ends the service and waits for it.
func (s *Service) Stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	<-s.ended
}
