package fault

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed clock/clock.c
var clockSource []byte

// clock moves the clock of the Redis processes that run with its environment. A small library, preloaded into them, adds an
// offset that it reads from a file.
type clock struct {
	file    *os.File
	library string
}

// newClock builds the library in a directory.
func newClock(ctx context.Context, dir string) (*clock, error) {
	source, library := filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		return nil, fmt.Errorf("write the source of the clock: %w", err)
	}
	out, err := exec.CommandContext(ctx, "cc", "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, source).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("clock-step needs a C compiler: on Debian, run: apt-get install gcc libc6-dev")
	}
	if err != nil {
		return nil, fmt.Errorf("build the library of the clock: %w: %s", err, out)
	}
	file, err := os.Create(filepath.Join(dir, "clock"))
	if err != nil {
		return nil, fmt.Errorf("create the offset of the clock: %w", err)
	}
	c := &clock{file: file, library: library}
	return c, c.set(0)
}

// environment returns the environment of a process whose clock moves.
func (c *clock) environment() []string {
	return append(os.Environ(), "LD_PRELOAD="+c.library, "TORTURE_CLOCK="+c.file.Name())
}

// set moves the clock away from the clock of the system.
func (c *clock) set(offset time.Duration) error {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(offset/time.Second))
	if _, err := c.file.WriteAt(b[:], 0); err != nil {
		return fmt.Errorf("move the clock: %w", err)
	}
	return nil
}
