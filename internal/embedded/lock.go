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

// orphanTimeout bounds the wait for a redis-server whose parent was killed. It has to write
// the data of one second, possibly to a slow disk.
const orphanTimeout = 15 * time.Second

// lockDir locks the directory until the file is closed in this process and in every process
// that has inherited it. It fails with [ErrInUse] if another process holds the lock.
func lockDir(ctx context.Context, dir string, log *slog.Logger) (_ *os.File, err error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	defer func() {
		if err != nil {
			_ = file.Close() // no important data was written
		}
	}()

	ctx, cancel := context.WithTimeout(ctx, orphanTimeout)
	defer cancel()
	for logged := false; ; {
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
		if !logged {
			logged = true
			log.InfoContext(ctx, "embedded: waiting for the redis-server of an earlier run to end", "data", dir)
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

// owner is the content of the lock file: the last process that locked it.
type owner struct {
	pid int    // 0 if the owner has not written it yet, or has released the lock
	run string // directory of the socket, which remains if the owner is killed
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

// removeRun removes the directory of the socket of a killed process. It ignores errors, because
// the directory does no harm.
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
