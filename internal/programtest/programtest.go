// Package programtest builds the programs that tests run.
package programtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"retwis/internal/redistest"
)

// Main runs the tests of a package, and then fails if goroutines leak. Before the tests it calls build with a temporary
// directory, which it removes afterwards.
func Main(m *testing.M, build func(dir string) error) {
	dir, err := os.MkdirTemp("", "retwis-test")
	if err == nil {
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	redistest.VerifyNoLeaks(tests{m, dir})
}

// tests removes a directory after the tests.
type tests struct {
	*testing.M
	dir string
}

// Run runs the tests and returns the exit code.
func (t tests) Run() int {
	defer os.RemoveAll(t.dir)
	return t.M.Run()
}

// Build builds a program of the directory cmd, for tests in such a directory. It returns the path of the binary, which is
// in dir.
func Build(dir, name string, race bool) (string, error) {
	path := filepath.Join(dir, name)
	args := []string{"build", "-o", path}
	if race {
		args = append(args, "-race")
	}
	if out, err := exec.CommandContext(context.Background(), "go", append(args, "../"+name)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return path, nil
}
