package main

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"retwis/internal/cli"
)

// reserveFiles checks that reports can be written to files, before anything is measured. Empty names are
// ignored. The function that it returns removes the files that are still empty.
func reserveFiles(paths ...string) (release func(), err error) {
	var created []string
	release = func() {
		for _, path := range created {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
				_ = os.Remove(path) // an empty file does no harm
			}
		}
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		_, err := os.Stat(path)
		missing := errors.Is(err, fs.ErrNotExist)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			release()
			return nil, cli.Misusef("the report cannot be written: %w: choose another file", err)
		}
		if missing {
			created = append(created, path)
		}
		_ = file.Close()
	}
	return release, nil
}

// writeFile writes a report to a file. An empty name is ignored.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err == nil {
		err = errors.Join(write(file), file.Close())
	}
	if err != nil {
		return cli.Misusef("the report cannot be written: %w: choose another file, or free some space", err)
	}
	return nil
}
