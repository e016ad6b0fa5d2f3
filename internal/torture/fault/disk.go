package fault

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// diskFull makes the append-only file of a master stop growing. With appendfsync always, Redis ends when it cannot write; it
// is started again once there is room.
func diskFull(ctx context.Context, e *Environment) error {
	n, err := e.redis.master(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	size, err := n.appendOnlySize()
	if err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: uint64(size) + 4096, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(n.process.PID(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		return fmt.Errorf("limit the size of files: %w", err)
	}
	select {
	case <-n.process.Done():
		wait(ctx, time.Second)
		if e.options.Cluster {
			if err := e.redis.awaitTakeOver(ctx); err != nil {
				return err
			}
		}
		if err := e.redis.start(ctx, n); err != nil {
			return err
		}
	case <-time.After(3 * time.Second):
		limit.Cur = unix.RLIM_INFINITY
		if err := unix.Prlimit(n.process.PID(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			return fmt.Errorf("lift the limit of the size of files: %w", err)
		}
	}
	return e.redis.awaitWhole(ctx)
}

// appendOnlySize returns the size of the file to which Redis appends.
func (n *redisNode) appendOnlySize() (int64, error) {
	files, err := filepath.Glob(filepath.Join(n.dir, "appendonlydir", "*.incr.aof"))
	if err != nil {
		return 0, fmt.Errorf("find the append-only file: %w", err)
	}
	var newest os.FileInfo
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return 0, fmt.Errorf("find the append-only file: %w", err)
		}
		if newest == nil || info.ModTime().After(newest.ModTime()) {
			newest = info
		}
	}
	if newest == nil {
		return 0, fmt.Errorf("no append-only file is in %s", strings.TrimSuffix(n.dir, "/"))
	}
	return newest.Size(), nil
}
