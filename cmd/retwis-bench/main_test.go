package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"retwis/internal/bench/process"
	"retwis/internal/programtest"
)

// The binaries under test, built once for all tests.
var benchBinary, serviceBinary string

func TestMain(m *testing.M) {
	programtest.Main(m, func(dir string) (err error) {
		// The race detector checks the packages of the program in their own tests. Here it would take minutes.
		if benchBinary, err = programtest.Build(dir, "retwis-bench", false); err != nil {
			return err
		}
		serviceBinary, err = programtest.Build(dir, "retwis", false)
		return err
	})
}

// invoke runs retwis-bench to its end. Variables are added to the environment.
func invoke(t *testing.T, variables []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runBinary(t, benchBinary, variables, args)
}

func runBinary(t *testing.T, binary string, variables, args []string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), variables...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// serve starts the service on a Redis and returns its URL.
func serve(t *testing.T, redisURL string, args ...string) string {
	t.Helper()
	s, err := process.StartService(t.Context(), serviceBinary, append([]string{"--redis-url", redisURL}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s.URL
}

func TestVersion_NamesTheProgram(t *testing.T) {
	t.Parallel()
	if code, stdout, stderr := invoke(t, nil, "version"); code != 0 || !strings.HasPrefix(stdout, "retwis-bench ") || !strings.Contains(stdout, ", go1.") {
		t.Errorf("code %d, printed %q, %q", code, stdout, stderr)
	}
}

func TestHelp_ListsTheCommands(t *testing.T) {
	t.Parallel()
	code, stdout, _ := invoke(t, nil)
	if code != 0 {
		t.Errorf("code %d", code)
	}
	for _, command := range []string{"measure", "load", "compare", "version"} {
		if !strings.Contains(stdout, "\n  "+command+" ") {
			t.Errorf("the help lacks %s:\n%s", command, stdout)
		}
	}
}
