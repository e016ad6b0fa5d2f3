package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retwis/internal/redistest"
	"retwis/internal/store/rdb"
)

// diagnosis is the JSON output of retwis doctor.
type diagnosis struct {
	Findings []struct{ Subject, Node, Verdict, Message, Fix string }
}

// has reports whether there is a finding about a subject, with a verdict unless that is empty, whose texts
// contain a text.
func (d diagnosis) has(subject, verdict, text string) bool {
	for _, f := range d.Findings {
		if f.Subject == subject && (verdict == "" || f.Verdict == verdict) && strings.Contains(f.Message+" "+f.Fix, text) {
			return true
		}
	}
	return false
}

// examine runs retwis doctor and checks that the exit code matches the findings.
func examine(t *testing.T, env []string, args ...string) diagnosis {
	t.Helper()
	code, stdout, stderr := invoke(t, env, append([]string{"doctor", "--json"}, args...)...)
	var d diagnosis
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatalf("code %d, %v: %q %q", code, err, stdout, stderr)
	}
	want := 0
	for _, f := range d.Findings {
		switch {
		case f.Verdict == "problem":
			want = 1
		case f.Verdict != "ok" && f.Verdict != "warning":
			t.Errorf("the verdict on %s is %q", f.Subject, f.Verdict)
		}
		if (f.Verdict == "ok") != (f.Fix == "") {
			t.Errorf("%s is %s, and what to do is %q", f.Subject, f.Verdict, f.Fix)
		}
		if f.Message == "" {
			t.Errorf("the finding about %s has no text", f.Subject)
		}
	}
	if code != want {
		t.Errorf("code %d, want %d of %+v", code, want, d)
	}
	return d
}

func TestDoctor_ChecksTheSettingsOfRedis(t *testing.T) {
	t.Parallel()
	base := []string{"--appendonly", "yes", "--maxmemory", "1gb", "--zset-max-listpack-entries", "1024", "--hash-max-listpack-value", "1024"}
	tests := []struct {
		name                   string
		args                   []string
		commands               [][]any // sent to Redis first
		subject, verdict, text string
	}{
		{"no problem", nil, nil, "persistence", "ok", "append-only file everysec"},
		{"keys are evicted", []string{"--maxmemory-policy", "allkeys-lru"}, nil, "eviction", "problem", "set maxmemory-policy noeviction"},
		{"no persistence", []string{"--appendonly", "no", "--save", ""}, nil, "persistence", "problem", "set appendonly yes"},
		{"only snapshots", []string{"--appendonly", "no", "--save", "3600 1"}, nil, "persistence", "warning", "snapshots only"},
		{"no regular fsync", []string{"--appendfsync", "no"}, nil, "persistence", "warning", "set appendfsync everysec"},
		{"no limit of memory", []string{"--maxmemory", "0"}, nil, "memory", "warning", "set maxmemory"},
		{"memory is full", []string{"--maxmemory", "900kb"}, nil, "memory", "problem", "raise maxmemory"},
		{"sorted sets are not packed", []string{"--zset-max-listpack-entries", "128"}, nil, "packing", "warning", "zset-max-listpack-entries 1024"},
		{"accounts and posts are not packed", []string{"--hash-max-listpack-value", "64"}, nil, "packing", "warning", "hash-max-listpack-value 1024"},
		{"few connections", []string{"--maxclients", "200"}, nil, "clients", "warning", "raise maxclients"},
		{"a replica", []string{"--replicaof", "127.0.0.1 1"}, nil, "role", "problem", "use the URL of the master"},
		{"a database of another version", nil, [][]any{{"HSET", "retwis:meta", "schema", "99", "partitions", "16"}}, "database", "problem", "schema version 99"},
		{"a database of another program", nil, [][]any{{"HSET", "retwis:meta", "schema", rdb.SchemaVersion, "partitions", "many"}}, "database", "problem", "does not belong to this program"},
		{"scripts are forbidden", nil, [][]any{{"ACL", "SETUSER", "default", "-@scripting"}}, "scripts", "problem", "ACL +@scripting"},
		{"channels are forbidden", nil, [][]any{{"ACL", "SETUSER", "default", "resetchannels"}}, "pub/sub", "problem", "ACL &*"},
		{"keys are forbidden", nil, [][]any{{"ACL", "SETUSER", "default", "resetkeys", "~other:*"}}, "database", "problem", "ACL ~*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			node := redistest.Server(t, append(slices.Clone(base), tt.args...)...)
			for _, command := range tt.commands {
				if err := node.Client().Do(t.Context(), command...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			d := examine(t, environment("RETWIS_REDIS_URL="+node.URL()))
			if !d.has(tt.subject, tt.verdict, tt.text) {
				t.Errorf("there is no finding about %s with verdict %s and %q: %+v", tt.subject, tt.verdict, tt.text, d)
			}
			measured := []string{"latency", "clock"} // on a busy machine they vary
			if d.has("pub/sub", "", "a published message arrives within") {
				measured = append(measured, "pub/sub")
			}
			for _, f := range d.Findings {
				if tt.commands == nil && tt.subject != f.Subject && tt.name != "memory is full" && f.Verdict != "ok" && !slices.Contains(measured, f.Subject) {
					t.Errorf("unexpected finding: %s is %s: %s", f.Subject, f.Verdict, f.Message)
				}
			}
		})
	}
}

func TestDoctor_ChecksTheDatabase(t *testing.T) {
	t.Parallel()
	node := redistest.Server(t)
	env := environment("RETWIS_REDIS_URL=" + node.URL())
	p := serve(t, env, "--no-worker", "--partitions", "4")
	c := register(t, p.url, "author")
	c.createPost("waits for a worker")
	if d := examine(t, env); !d.has("outboxes", "problem", "no worker runs") || !d.has("database", "ok", "4 partitions") {
		t.Errorf("without a worker: %+v", d)
	}
	if d := examine(t, env, "--partitions", "8"); !d.has("database", "problem", "set RETWIS_PARTITIONS to 4") {
		t.Errorf("with another number of partitions: %+v", d)
	}
	worker := launch(t, env, "worker")
	eventually(t, "the post is delivered", func() bool {
		d := examine(t, env)
		return d.has("outboxes", "ok", "1 workers run") && d.has("dead letters", "ok", "none")
	})
	worker.stop()
	p.stop()
}

func TestDoctor_ChecksEachNodeOfACluster(t *testing.T) {
	t.Parallel()
	group := redistest.Cluster(t, redistest.ClusterOptions{Args: []string{"--appendonly", "yes"}})
	env := environment("RETWIS_REDIS_URL=" + group.URL())
	d := examine(t, env)
	if !d.has("cluster", "ok", "16384 of 16384 slots") || !d.has("replicas", "warning", "3 of 3 masters have none") || !d.has("clocks", "", "the clocks of the masters differ by") || !d.has("pub/sub", "", "a published message arrives within") {
		t.Errorf("a cluster without replicas: %+v", d)
	}
	nodes := map[string]int{}
	for _, f := range d.Findings {
		if f.Subject == "version" {
			nodes[f.Node]++
		}
	}
	if len(nodes) != 3 || nodes[""] != 0 {
		t.Errorf("checked nodes: %v", nodes)
	}
	if err := group.Nodes()[1].Client().ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	if d := examine(t, env); !d.has("eviction", "problem", "noeviction") {
		t.Errorf("with a node that evicts keys: %+v", d)
	}
	if err := group.Nodes()[2].Client().Do(t.Context(), "CLUSTER", "DELSLOTSRANGE", "12000", "12003").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "slots are missing", func() bool {
		code, stdout, _ := invoke(t, env, "doctor")
		return code == 1 && strings.Contains(stdout, "problem  cluster") && strings.Contains(stdout, "-> ")
	})
}

func TestDoctor_RefusesUnusableConfigurations(t *testing.T) {
	t.Parallel()
	locked := redistest.Server(t)
	if err := locked.Client().Do(t.Context(), "ACL", "SETUSER", "somebody", "on", ">right", "~*", "&*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"no server", []string{"RETWIS_REDIS_URL=redis://:secret@127.0.0.1:1/0"}, nil, "connect to Redis at redis://:xxxxx@127.0.0.1:1/0"},
		{"a wrong password", []string{"RETWIS_REDIS_URL=" + strings.Replace(locked.URL(), "unix://", "unix://somebody:secret@", 1)}, nil, "WRONGPASS"},
		{"not a URL", nil, []string{"--redis-url", "localhost"}, "it looks like redis://user:password@host:6379/0"},
		{"a setting of serve", []string{"RETWIS_DRAIN_TIME=1h"}, nil, "--drain-time (RETWIS_DRAIN_TIME)"},
		{"an origin", []string{"RETWIS_ALLOWED_ORIGINS=example.com"}, nil, "--allowed-origins (RETWIS_ALLOWED_ORIGINS)"},
		{"an unknown flag", nil, []string{"--thorough"}, "unknown flag --thorough"},
		{"an argument", nil, []string{"redis://localhost"}, "unexpected argument"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := invoke(t, environment(tt.env...), append([]string{"doctor"}, tt.args...)...)
			last := lastLine(stderr)
			if code != 2 || stdout != "" || !strings.HasPrefix(last, "retwis: ") || !strings.Contains(last, tt.want) || strings.Contains(stderr, "secret") {
				t.Errorf("code %d, printed %q and\n%swant code 2 and %q", code, stdout, stderr, tt.want)
			}
		})
	}
}

func TestDoctor_ChecksTheDefaultConfiguration(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_DATA_DIR=" + filepath.Join(t.TempDir(), "data"))
	if d := examine(t, env); !d.has("persistence", "ok", "append-only file") || !d.has("redis", "ok", "a child process") {
		t.Errorf("with a child process: %+v", d)
	}
	p := serve(t, env)
	code, _, stderr := invoke(t, env, "doctor")
	if code != 2 || !strings.Contains(lastLine(stderr), "the data directory is in use") {
		t.Errorf("while the service is running: code %d, %s", code, stderr)
	}
	p.stop()
	if d := examine(t, environment(), "--redis-url", "memory"); !d.has("redis", "warning", "install redis-server 7 or later") {
		t.Errorf("in memory: %+v", d)
	}
	code, stdout, _ := invoke(t, environment(), "doctor", "--help")
	if code != 0 || !strings.Contains(stdout, "It changes nothing") || !strings.Contains(stdout, "--json") {
		t.Errorf("code %d, %s", code, stdout)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
