//go:build deploy

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"retwis/internal/redistest"
)

// ownRedis is a Redis that listens on a TCP port, so that its data can be copied to another one.
type ownRedis struct {
	dir  string
	port string
}

func (s ownRedis) URL() string { return "redis://127.0.0.1:" + s.port + "/0" }

// tcpRedis starts a Redis with an empty directory.
func tcpRedis(t *testing.T, args ...string) ownRedis {
	t.Helper()
	return redisIn(t, t.TempDir(), args...)
}

// redisIn starts a Redis in a directory that may contain data.
func redisIn(t *testing.T, dir string, args ...string) ownRedis {
	t.Helper()
	_, port, _ := net.SplitHostPort(freeAddress(t))
	s := ownRedis{dir, port}
	cmd := exec.Command("redis-server", append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--zset-max-listpack-entries", "1024"}, args...)...)
	start(t, cmd)
	eventually(t, "Redis answers", func() bool { return strings.Contains(s.cliQuietly("ping"), "PONG") })
	return s
}

func (s ownRedis) cliQuietly(args ...string) string {
	out, _ := exec.Command("redis-cli", append([]string{"-p", s.port}, args...)...).CombinedOutput()
	return string(out)
}

func redisCLI(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "redis-cli", args...).CombinedOutput()
	if err != nil || regexp.MustCompile(`(?m)^(ERR|\(error\)|\[ERR\])`).Match(out) {
		t.Fatalf("redis-cli %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// populated creates a database with users, and returns a reader with a home timeline.
func populated(t *testing.T, url string) *client {
	t.Helper()
	env := environment("RETWIS_REDIS_URL=" + url)
	p := serve(t, env)
	reader := flow(t, p.url, "")
	p.stop()
	return reader
}

// checkRestored checks that a database is consistent and contains the reader's timeline.
func checkRestored(t *testing.T, url string, reader *client) {
	t.Helper()
	p := serve(t, environment("RETWIS_REDIS_URL="+url))
	again := reader.at(p.url)
	again.awaitHome("still here", "mine")
	again.createPost("and here")
	again.awaitHome("and here", "still here", "mine")
	code, stdout, stderr := invoke(t, environment(), "check", "--redis-url", url)
	if code != 0 {
		t.Errorf("check: code %d\n%s%s", code, stdout, stderr)
	}
	p.stop()
}

// TestBackup_RestoresOneRedis follows the steps of docs/operations.md for backups of one Redis.
func TestBackup_RestoresOneRedis(t *testing.T) {
	source := tcpRedis(t, "--appendonly", "yes")
	reader := populated(t, source.URL())
	backup := filepath.Join(t.TempDir(), "retwis.rdb")
	redisCLI(t, "-p", source.port, "--rdb", backup)
	redisCLI(t, "-p", source.port, "flushall") // the data loss

	dir := t.TempDir()
	content, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dump.rdb"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	restored := redisIn(t, dir, "--appendonly", "no")
	redisCLI(t, "-p", restored.port, "config", "set", "appendonly", "yes")
	eventually(t, "the append-only file is written", func() bool {
		info := restored.cliQuietly("info", "persistence")
		return strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0") && strings.Contains(info, "aof_enabled:1")
	})
	redisCLI(t, "-p", restored.port, "shutdown", "nosave")
	eventually(t, "Redis has ended", func() bool { return !strings.Contains(restored.cliQuietly("ping"), "PONG") })
	checkRestored(t, redisIn(t, dir, "--appendonly", "yes").URL(), reader)
}

// TestMove_FromOneRedisToACluster follows the steps of docs/operations.md for the move from one Redis to a
// cluster, and for the backup of a cluster.
func TestMove_FromOneRedisToACluster(t *testing.T) {
	source := tcpRedis(t, "--appendonly", "yes")
	reader := populated(t, source.URL())
	group := redistest.Cluster(t, redistest.ClusterOptions{Args: []string{"--appendonly", "yes"}})
	importInto(t, group, source)
	if n := strings.TrimSpace(source.cliQuietly("dbsize")); n == "0" {
		t.Error("the source was emptied")
	}
	checkRestored(t, group.URL(), reader)

	var backups []string
	for i, node := range group.Nodes() {
		backup := filepath.Join(t.TempDir(), fmt.Sprint(i, ".rdb"))
		redisCLI(t, "-u", strings.TrimSuffix(node.URL(), "/0"), "--rdb", backup)
		backups = append(backups, backup)
	}
	other := redistest.Cluster(t, redistest.ClusterOptions{Args: []string{"--appendonly", "no"}})
	for _, node := range other.Nodes() {
		if err := node.Client().FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, backup := range backups {
		dir := t.TempDir()
		content, err := os.ReadFile(backup)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "dump.rdb"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		importInto(t, other, redisIn(t, dir, "--appendonly", "no"))
	}
	p := serve(t, environment("RETWIS_REDIS_URL="+other.URL()))
	reader.at(p.url).awaitHome("and here", "still here", "mine")
	p.stop()
}

func importInto(t *testing.T, group *redistest.Group, source ownRedis) {
	t.Helper()
	first := strings.TrimSuffix(strings.TrimPrefix(group.Nodes()[0].URL(), "redis://"), "/0")
	out := redisCLI(t, "--cluster", "import", first, "--cluster-from", "127.0.0.1:"+source.port, "--cluster-copy", "--cluster-replace")
	if strings.Contains(out, "[ERR]") || strings.Contains(out, "Source 127.0.0.1") && strings.Contains(out, "rror") {
		t.Fatalf("the import failed:\n%s", out)
	}
}
