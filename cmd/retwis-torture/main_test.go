package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTorture_FindsNoViolation runs the program as a person would. At full size every fault is injected, on one Redis
// and on a cluster; otherwise each schedule has a fixed order and takes about a minute. The runs take place one after the other,
// because tests of other packages run meanwhile.
func TestTorture_FindsNoViolation(t *testing.T) {
	t.Parallel()
	runs := map[string][]string{
		"one Redis, small homes": {
			"--home-cap", "100", "--seed", "1", "--fault", "kill-worker,stop-worker,freeze-worker,kill-api,stop-api,rolling-deploy," +
				"kill-redis,kill-redis-and-worker,freeze-redis,drop-replies,black-hole,break-pubsub,silent-pubsub,out-of-memory",
		},
		"cluster": {
			"--cluster", "--seed", "2", "--fault", "kill-worker,kill-api,freeze-redis,failover,kill-master,kill-master-and-worker," +
				"kill-master-behind-lag,drop-replies,break-pubsub",
		},
	}
	if os.Getenv("RETWIS_SOAK") != "" {
		runs["one Redis"] = []string{"--rounds", "5"}
		runs["one Redis, small homes"] = []string{"--rounds", "3", "--home-cap", "100"}
		runs["cluster"] = []string{"--cluster", "--rounds", "3"}
	}
	dir := t.TempDir()
	program, service := filepath.Join(dir, "retwis-torture"), filepath.Join(dir, "retwis")
	for path, source := range map[string]string{program: ".", service: "../retwis"} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, source).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", source, err, out)
		}
	}
	for name, args := range runs {
		t.Run(name, func(t *testing.T) {
			results := filepath.Join(t.TempDir(), "results.jsonl")
			cmd := exec.CommandContext(t.Context(), program, append([]string{"run", "--binary", service, "--results", results}, args...)...)
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Fatal(err)
			}
			line, err := os.ReadFile(results)
			if err != nil {
				t.Fatal(err)
			}
			var r result
			if err := json.NewDecoder(bytes.NewReader(line)).Decode(&r); err != nil {
				t.Fatal(err)
			}
			if r.Posts == 0 || len(r.Faults) < 4 {
				t.Errorf("the run created %d posts under the faults %v: it tested nothing", r.Posts, r.Faults)
			}
		})
	}
}
