package redisproc

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

const (
	keptLines = 8
	maxLine   = 4096
)

// lines is a writer that passes on its input by lines, and keeps the last lines.
type lines struct {
	log func(string)

	mu      sync.Mutex
	partial []byte
	last    []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	for {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		// A longer line is truncated.
		l.partial = append(l.partial, line[:min(len(line), maxLine-len(l.partial))]...)
		if !found {
			return n, nil
		}
		l.end()
		b = rest
	}
}

func (l *lines) end() {
	line := string(bytes.TrimSpace(l.partial))
	l.partial = l.partial[:0]
	if line == "" {
		return
	}
	if len(l.last) == keptLines {
		l.last = append(l.last[:0], l.last[1:]...)
	}
	l.last = append(l.last, line)
	if l.log != nil {
		l.log(line)
	}
}

// tail returns the last lines, joined.
func (l *lines) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.last
	if len(l.partial) > 0 {
		last = append(slices.Clip(last), string(l.partial))
	}
	if len(last) == 0 {
		return "nothing"
	}
	return strings.Join(last, " | ")
}
