package redisproc

import (
	"os"
	"path/filepath"
)

// maxSocketPath is the maximum length of a socket path on every Unix.
const maxSocketPath = 103

// SocketDir creates a directory for a socket with a name. The name of the directory begins with
// the prefix. If the default directory for temporary files has a path that is too long for a
// socket, SocketDir uses /tmp.
func SocketDir(prefix, socket string) (string, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil || len(filepath.Join(dir, socket)) <= maxSocketPath {
		return dir, err
	}
	if err := os.Remove(dir); err != nil {
		return "", err
	}
	return os.MkdirTemp("/tmp", prefix)
}
