package redisproc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind_ChecksTheVersion(t *testing.T) {
	const redis, valkey = "redis-server", "valkey-server"
	type programs map[string]string // scripts by name
	tests := []struct {
		name     string
		programs programs
		found    string // the program found
		want     string // part of the error, if none is
	}{
		{"none", nil, "", "neither redis-server nor valkey-server is on the PATH"},
		{"new", programs{redis: "echo Redis server v=7.0.15 sha=00000000:0"}, redis, ""},
		{"newer", programs{redis: "echo Valkey server v=10.1.0-rc1 sha=00000000:0"}, redis, ""},
		{"valkey alone", programs{valkey: "echo Valkey server v=8.0.1 sha=00000000:0"}, valkey, ""},
		{"both", programs{redis: "echo v=7.0.15", valkey: "echo v=8.0.1"}, redis, ""},
		{"old", programs{redis: "echo Redis server v=6.2.14 sha=00000000:0"}, "", "is version 6.2.14: version 7 or later is required"},
		{"another program", programs{redis: "echo hello"}, "", `no version in "hello"`},
		{"broken", programs{redis: "exit 3"}, "", "exit status 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			for name, script := range tt.programs {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			path, err := Find(t.Context())
			if tt.want == "" {
				if err != nil || path != filepath.Join(dir, tt.found) {
					t.Fatalf("Find() = %q, %v", path, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Find() = %q, %v; want an error with %q", path, err, tt.want)
			}
			if errors.Is(err, ErrMissing) != (len(tt.programs) == 0) {
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
