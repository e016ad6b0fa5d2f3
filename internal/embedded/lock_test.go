package embedded

import (
	"log/slog"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process that is started while the lock is held inherits it until it executes its program.
func TestRelease_LeavesTheLockToTheNextOwner(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	var first child
	var err error
	if first.lock, err = lockDir(t.Context(), dir, log); err != nil {
		t.Fatal(err)
	}
	inherited, err := unix.Dup(int(first.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.release(); err != nil {
		t.Fatal(err)
	}
	executed := time.AfterFunc(100*time.Millisecond, func() { _ = unix.Close(inherited) })
	defer executed.Stop()
	next, err := lockDir(t.Context(), dir, log)
	if err != nil {
		t.Fatal("the lock was released:", err)
	}
	_ = next.Close()
}
