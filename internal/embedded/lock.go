package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// orphanPatience bounds the wait for a redis-server whose parent was killed: it
// has the data of a second to write, and a disk can be slow.
const orphanPatience = 15 * time.Second

// lockDir makes the directory ours until the file is closed, here and in every
// process that inherited it. It fails with [ErrInUse] while it belongs to another.
func lockDir(ctx context.Context, dir string, log *slog.Logger) (_ *os.File, err error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	defer func() {
		if err != nil {
			_ = file.Close() // nothing was written that matters
		}
	}()

	ctx, cancel := context.WithTimeout(ctx, orphanPatience)
	defer cancel()
	for told := false; ; {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if pid := readOwner(file).pid; alive(pid) {
			return nil, fmt.Errorf("%w: process %d uses %s", ErrInUse, pid, dir)
		}
		if !told {
			told = true
			log.InfoContext(ctx, "waiting for the redis-server of an earlier run to end", "data", dir)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: a redis-server of an earlier run still uses %s: %w", ErrInUse, dir, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}

	removeRun(readOwner(file).run)
	if err := writeOwner(file, owner{pid: os.Getpid()}); err != nil {
		return nil, err
	}
	return file, nil
}

// owner is what the file says about who locked it last.
type owner struct {
	pid int    // 0 if it says none: its owner has it for an instant only, and is about to say so
	run string // directory of the socket, which is left behind when its owner is killed
}

func readOwner(file *os.File) owner {
	b, err := io.ReadAll(io.NewSectionReader(file, 0, 4096))
	if err != nil {
		return owner{}
	}
	pid, run, _ := strings.Cut(string(b), "\n")
	o := owner{run: strings.TrimSpace(run)}
	if o.pid, err = strconv.Atoi(pid); err != nil || o.pid < 0 {
		return owner{}
	}
	return o
}

func writeOwner(file *os.File, o owner) error {
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("write the lock of the data directory: %w", err)
	}
	if _, err := file.WriteAt(fmt.Appendf(nil, "%d\n%s\n", o.pid, o.run), 0); err != nil {
		return fmt.Errorf("write the lock of the data directory: %w", err)
	}
	return nil
}

// removeRun removes what a killed process left: a directory of ours that holds a
// socket at most. It does not matter much, so it may fail.
func removeRun(dir string) {
	if !strings.HasPrefix(filepath.Base(dir), runPrefix) {
		return
	}
	_ = os.Remove(filepath.Join(dir, socketName))
	_ = os.Remove(dir)
}

func alive(pid int) bool {
	return pid > 0 && !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}
