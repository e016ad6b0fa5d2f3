package redisproc

import (
	"os"
	"path/filepath"
)

// maxSocketPath is what a socket's address has room for on every Unix.
const maxSocketPath = 103

// SocketDir makes a directory for a socket of that name. Its own name begins with the prefix,
// and is short enough for the socket's address, however long the name of the directory for
// temporary files is.
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
