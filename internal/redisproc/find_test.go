package redisproc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	tests := []struct {
		name   string
		script string // in place of redis-server; empty: there is none
		want   string // in the error; empty: it is found
	}{
		{"none", "", "there is no redis-server"},
		{"new", "echo Redis server v=7.0.15 sha=00000000:0", ""},
		{"newer, of another make", "echo Valkey server v=10.1.0-rc1 sha=00000000:0", ""},
		{"old", "echo Redis server v=6.2.14 sha=00000000:0", "is version 6.2.14, and 7 or later is needed"},
		{"something else", "echo hello", `"hello" names no version`},
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
