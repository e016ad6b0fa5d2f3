package redisproc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSocketDir_ReturnsShortPaths(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, temporary := range []string{os.TempDir(), long} {
		t.Setenv("TMPDIR", temporary)
		dir, err := SocketDir("retwis-socket-test", "redis.sock")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if path := filepath.Join(dir, "redis.sock"); len(path) > maxSocketPath || !strings.HasPrefix(filepath.Base(dir), "retwis-socket-test") {
			t.Errorf("with the temporary directory %s the path is %s", temporary, path)
		}
	}
	if left, err := os.ReadDir(long); err != nil || len(left) > 0 {
		t.Errorf("%d directories remain in the long path: %v", len(left), err)
	}
}
