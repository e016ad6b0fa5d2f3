package redisproc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Loading is the progress of a server in loading its data.
type Loading struct{ Loaded, Total int64 } // bytes

// Ready waits until the server answers at the address. It fails if the server ends or ctx is
// done. While the server loads its data, Ready calls loading with the progress many times per
// second; loading may be nil.
func (p *Process) Ready(ctx context.Context, network, addr string, loading func(Loading)) error {
	pause := time.Millisecond
	for {
		progress, err := ping(ctx, network, addr)
		if err == nil {
			return nil
		}
		if progress != nil && loading != nil {
			loading(*progress)
		}
		select {
		case <-p.done:
			if err := p.Err(); err != nil {
				return err
			}
			return fmt.Errorf("redis-server ended before it was ready; last output: %s", p.output.tail())
		case <-ctx.Done():
			return fmt.Errorf("redis-server is not ready: %w; last attempt: %w", context.Cause(ctx), err)
		case <-time.After(pause):
		}
		pause = min(pause*3/2, 50*time.Millisecond)
	}
}

// ping checks whether a server is ready. If the server is loading its data, ping returns an
// error and the progress.
func ping(ctx context.Context, network, addr string) (progress *Loading, err error) {
	// A Redis client would add a handshake, retries and a connection pool to this single
	// command.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	reply, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	reply = strings.TrimSpace(reply)
	switch {
	case reply == "+PONG":
		return nil, nil
	case strings.HasPrefix(reply, "-LOADING"):
		progress, err := readProgress(conn, r)
		if err != nil {
			return nil, err
		}
		return progress, errors.New("the server is loading its data")
	default:
		return nil, fmt.Errorf("unexpected reply to PING: %q", reply)
	}
}

func readProgress(conn net.Conn, r *bufio.Reader) (*Loading, error) {
	if _, err := io.WriteString(conn, "INFO persistence\r\n"); err != nil {
		return nil, err
	}
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	size, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
	if err != nil || size < 0 || size > 1<<20 {
		return nil, fmt.Errorf("unexpected reply to INFO: %q", head)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	progress := new(Loading)
	for line := range strings.Lines(string(body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "loading_loaded_bytes":
			progress.Loaded, _ = strconv.ParseInt(value, 10, 64)
		case "loading_total_bytes":
			progress.Total, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return progress, nil
}
