package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress_PrintsLinesWithoutATerminal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	synctest.Test(t, func(t *testing.T) {
		p := NewProgress(file)
		add, end := p.Part("users", 10)
		time.Sleep(lineEvery + time.Second)
		add(4)
		time.Sleep(lineEvery)
		add(6)
		end()
		unknown := p.Begin("posts", 0)
		unknown.Add(7)
		time.Sleep(time.Second)
		unknown.End()
	})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"users: 0 of 10 in 5s (0/s)",
		"users: 4 of 10 in 10s (0/s)",
		"users: 10 of 10 in 11s (1/s)",
		"posts: 7 in 1s (7/s)",
	}
	if got := strings.Split(strings.TrimSpace(string(text)), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("it printed %q, want %q", got, want)
	}
}

func TestColumns_AreZeroWithoutATerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if n := columns(file); n != 0 {
		t.Errorf("a file has %d columns", n)
	}
}
