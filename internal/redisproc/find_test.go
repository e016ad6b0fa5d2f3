package redisproc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind_ChecksTheVersion(t *testing.T) {
	tests := []struct {
		name   string
		script string // replaces redis-server; empty if it is missing
		want   string // part of the error; empty if it succeeds
	}{
		{"none", "", "redis-server is not on the PATH"},
		{"new", "echo Redis server v=7.0.15 sha=00000000:0", ""},
		{"newer, another implementation", "echo Valkey server v=10.1.0-rc1 sha=00000000:0", ""},
		{"old", "echo Redis server v=6.2.14 sha=00000000:0", "is version 6.2.14: version 7 or later is required"},
		{"another program", "echo hello", `no version in "hello"`},
		{"broken", "exit 3", "exit status 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			if tt.script != "" {
				script := "#!/bin/sh\n" + tt.script + "\n"
				if err := os.WriteFile(filepath.Join(dir, "redis-server"), []byte(script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			path, err := Find(t.Context())
			if tt.want == "" {
				if err != nil || path != filepath.Join(dir, "redis-server") {
					t.Fatalf("Find() = %q, %v", path, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Find() = %q, %v; want an error with %q", path, err, tt.want)
			}
			if errors.Is(err, ErrMissing) != (tt.script == "") {
				t.Errorf("errors.Is(%v, ErrMissing) is wrong", err)
			}
		})
	}
}

func FuzzParseVersion(f *testing.F) {
	f.Add("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0")
	f.Add("v=")
	f.Add("v=99999999999999999999")
	f.Fuzz(func(t *testing.T, s string) {
		version, major, err := parseVersion(s)
		if err == nil && (version == "" || major < 0) {
			t.Errorf("parseVersion(%q) = %q, %d", s, version, major)
		}
	})
}
