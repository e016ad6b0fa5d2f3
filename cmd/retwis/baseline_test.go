package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestBaseline(t *testing.T) {
	t.Parallel()
	redis, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() // without redis-benchmark
	if err := os.Symlink(redis, filepath.Join(path, "redis-server")); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := invoke(t, environment("PATH="+path), "bench", "baseline", "--followers", "20", "--posts", "5", "--clients", "2", "--duration", "1s")
	if code != 0 {
		t.Fatalf("code %d, printed\n%s%s", code, stdout, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 4 {
		t.Fatalf("it printed\n%s", stdout)
	}
	for i, want := range []string{"ours / theirs", "sorted sets of the book", "redis-benchmark is not installed", "a page from memory"} {
		if !strings.Contains(lines[i], want) || i != 0 && i != 2 && !strings.HasSuffix(lines[i], " ×") {
			t.Errorf("line %d is %q, want one with %q", i, lines[i], want)
		}
	}
}

func TestBaselineMisused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"no Redis", environment("PATH=" + t.TempDir()), nil, "install Redis 7 or later"},
		{"nobody to deliver to", environment(), []string{"--followers", "0"}, "choose 1 to 1000000"},
		{"nothing to deliver", environment(), []string{"--posts", "0"}, "choose 1 to 10000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := invoke(t, tt.env, append([]string{"bench", "baseline"}, tt.args...)...)
			if code != exitMisuse || !strings.Contains(stderr, tt.want) {
				t.Errorf("code %d, said %q", code, stderr)
			}
		})
	}
}
