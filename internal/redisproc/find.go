package redisproc

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MinVersion is the lowest supported major version of Redis. Older versions have neither
// sharded pub/sub nor the script flags that the store uses.
const MinVersion = 7

// ErrMissing means that neither redis-server nor valkey-server is on the PATH.
var ErrMissing = errors.New("neither redis-server nor valkey-server is on the PATH")

// Find returns the path of the redis-server on the PATH, or else of the valkey-server. It fails with
// [ErrMissing] if there is neither, and with another error if the one found cannot be used.
func Find(ctx context.Context) (string, error) {
	for _, program := range []string{"redis-server", "valkey-server"} {
		path, err := FindProgram(ctx, program)
		if !errors.Is(err, exec.ErrNotFound) {
			return path, err
		}
	}
	return "", ErrMissing
}

// FindProgram returns the path of a program that is compatible with redis-server, such as
// valkey-server. It fails if the program is missing or cannot be used.
func FindProgram(ctx context.Context, program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", program, err)
	}

	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("get the version of %s: %w", path, err)
	}
	version, major, err := parseVersion(string(out))
	if err != nil {
		return "", fmt.Errorf("get the version of %s: %w", path, err)
	}
	if major < MinVersion {
		return "", fmt.Errorf("%s is version %s: version %d or later is required", path, version, MinVersion)
	}
	return path, nil
}

// parseVersion parses the output of redis-server --version, like "Redis server
// v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0".
func parseVersion(s string) (version string, major int, err error) {
	m := regexp.MustCompile(`\bv=((\d{1,9})[0-9a-z.\-]*)`).FindStringSubmatch(s)
	if m == nil {
		return "", 0, fmt.Errorf("no version in %q", strings.TrimSpace(s))
	}
	major, err = strconv.Atoi(m[2])
	return m[1], major, err
}
