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

// MinVersion is the oldest major version of Redis that is used: older ones have
// neither sharded pub/sub nor the script flags that the store relies on.
const MinVersion = 7

// ErrMissing says that there is no redis-server on the PATH.
var ErrMissing = errors.New("there is no redis-server on the PATH")

// Find returns the path of the redis-server on the PATH. The error is
// [ErrMissing], or says why the one that is there cannot be used.
func Find(ctx context.Context) (string, error) {
	path, err := exec.LookPath("redis-server")
	if errors.Is(err, exec.ErrNotFound) {
		return "", ErrMissing
	}
	if err != nil {
		return "", fmt.Errorf("look for redis-server: %w", err)
	}

	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	version, major, err := parseVersion(string(out))
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	if major < MinVersion {
		return "", fmt.Errorf("%s is version %s, and %d or later is needed", path, version, MinVersion)
	}
	return path, nil
}

// parseVersion reads what redis-server --version prints, like "Redis server
// v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0".
func parseVersion(s string) (version string, major int, err error) {
	m := regexp.MustCompile(`\bv=((\d{1,9})[0-9a-z.\-]*)`).FindStringSubmatch(s)
	if m == nil {
		return "", 0, fmt.Errorf("%q names no version", strings.TrimSpace(s))
	}
	major, err = strconv.Atoi(m[2])
	return m[1], major, err
}
