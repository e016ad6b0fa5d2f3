//go:build deploy

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v2"

	"retwis/internal/redistest"
)

// There is no container engine in these tests, and no image is built. They carry out what
// an engine would: the steps of the Dockerfile, in a folder that holds nothing else, and the
// processes of compose.yaml.

// step is one instruction of a Dockerfile.
type step struct{ instruction, arguments string }

// stages reads a Dockerfile: by stage the steps, and the image that a stage begins with.
func stages(t *testing.T) (names []string, bases map[string]string, steps map[string][]step) {
	t.Helper()
	bases, steps = map[string]string{}, map[string][]step{}
	text := strings.ReplaceAll(read(t, deployDir+"/Dockerfile"), "\\\n", " ")
	stage := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		instruction, arguments, _ := strings.Cut(line, " ")
		if instruction == "FROM" {
			base, name, named := strings.Cut(arguments, " AS ")
			if !named {
				name = "final"
			}
			stage = name
			names, bases[stage] = append(names, stage), base
			continue
		}
		steps[stage] = append(steps[stage], step{instruction, arguments})
	}
	return names, bases, steps
}

// buildImage carries the Dockerfile out, each stage in a folder of its own that stands for
// the root of its files, and returns that of the last one, with its settings.
func buildImage(t *testing.T) (root string, image map[string][]string) {
	t.Helper()
	names, bases, steps := stages(t)
	if bases["final"] != "scratch" || !strings.HasPrefix(bases["build"], "golang:") || !strings.HasPrefix(bases["web"], "node:") {
		t.Fatalf("the stages begin with %v", bases)
	}
	roots, context, ignored := map[string]string{}, checkout(t), ignores(t)
	image = map[string][]string{}
	for _, name := range names {
		at, dir := t.TempDir(), ""
		roots[name] = at
		for _, s := range steps[name] {
			switch s.instruction {
			case "WORKDIR":
				dir = s.arguments
				if err := os.MkdirAll(filepath.Join(at, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			case "COPY":
				from, arguments := context, strings.Fields(s.arguments)
				for strings.HasPrefix(arguments[0], "--") {
					if stage, ok := strings.CutPrefix(arguments[0], "--from="); ok {
						from, ignored = roots[stage], nil
						if strings.HasPrefix(arguments[len(arguments)-2], "/etc/ssl/") {
							from = "/" // of the image that the stage begins with, which is not here
						}
					}
					arguments = arguments[1:]
				}
				to := arguments[len(arguments)-1]
				if !filepath.IsAbs(to) {
					to = filepath.Join(dir, to) + strings.Repeat("/", strings.Count(to, "/")-strings.Count(strings.TrimSuffix(to, "/"), "/"))
				}
				for _, source := range arguments[:len(arguments)-1] {
					copyTree(t, filepath.Join(from, source), filepath.Join(at, to), strings.HasSuffix(to, "/"), from, ignored)
				}
				ignored = ignores(t)
			case "RUN":
				command := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(s.arguments, "/out", filepath.Join(at, "out")))
				command.Dir = filepath.Join(at, dir)
				command.Env = append(os.Environ(), "CI=true")
				if out, err := command.CombinedOutput(); err != nil {
					t.Fatalf("RUN %s: %v\n%s", s.arguments, err, out)
				}
			case "ENV", "USER", "ENTRYPOINT", "CMD", "EXPOSE", "STOPSIGNAL":
				image[s.instruction] = append(image[s.instruction], s.arguments)
			default:
				t.Fatalf("what does %s do?", s.instruction)
			}
		}
	}
	return roots["final"], image
}

// checkout is what is in the repository, without what is built.
func checkout(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// ignores are the patterns of what is not copied.
func ignores(t *testing.T) []string {
	t.Helper()
	return strings.Fields(read(t, deployDir+"/Dockerfile.dockerignore"))
}

// copyTree copies a file or what a folder holds, as COPY does.
func copyTree(t *testing.T, from, to string, intoFolder bool, root string, ignored []string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() && intoFolder {
		to = filepath.Join(to, filepath.Base(from))
	}
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(from, path)
		inRoot, _ := filepath.Rel(root, path)
		if slices.ContainsFunc(ignored, func(pattern string) bool {
			if base, deep := strings.CutPrefix(pattern, "**/"); deep {
				return entry.Name() == base
			}
			return inRoot == pattern
		}) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		target := filepath.Join(to, below)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		of, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, of.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheImage carries the Dockerfile out, and runs what comes of it as its user, from its
// folder and with its environment.
func TestTheImage(t *testing.T) {
	root, image := buildImage(t)
	binary := filepath.Join(root, "usr/local/bin/retwis")
	if out, err := exec.Command("ldd", binary).CombinedOutput(); err == nil || !strings.Contains(string(out), "not a dynamic executable") {
		t.Errorf("the program is not static: %v %s", err, out)
	}
	if got := image["USER"]; len(got) != 1 || strings.HasPrefix(got[0], "0") || strings.HasPrefix(got[0], "root") {
		t.Fatalf("the user is %q", got)
	}
	if got := fmt.Sprint(image["ENTRYPOINT"], image["CMD"]); got != `[["/usr/local/bin/retwis"]] [["serve"]]` {
		t.Fatalf("it starts %s", got)
	}
	uid, _ := strconv.Atoi(strings.Split(image["USER"][0], ":")[0])
	everybody(t, root)
	data := filepath.Join(root, "data")
	if err := os.Chown(data, uid, uid); err != nil {
		t.Fatal(err) // only root can try what another user may do
	}
	api, metrics := freeAddress(t), freeAddress(t)
	var env []string
	for _, setting := range image["ENV"] {
		setting = strings.ReplaceAll(setting, "0.0.0.0:8080", api)
		env = append(env, strings.ReplaceAll(setting, "0.0.0.0:9464", metrics))
	}
	node := tcpRedis(t)
	p := launchAs(t, uid, data, append(env, "RETWIS_REDIS_URL="+node.URL()), binary, "serve")
	p.url = "http://" + api
	awaitReady(t, p.url)
	flow(t, p.url, "")
	if _, body := newClient(t, p.url).get("/"); !strings.Contains(body, `<div id="root"`) {
		t.Errorf("the image is without the web app: %s", body)
	}
	if got := scrape(t, "http://"+metrics); sum(got, "retwis_redis_up") != 1 {
		t.Error("it does not tell its metrics")
	}
	p.stop()
}

// everybody lets other users read what the test made, and go where it is.
func everybody(t *testing.T, root string) {
	t.Helper()
	for dir := root; dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == os.TempDir() {
			_ = os.Chmod(dir, 0o1777)
			break
		}
	}
}

func launchAs(t *testing.T, uid int, dir string, env []string, binary string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = env, dir
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	p.cmd.WaitDelay = patience
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("%s\nprinted\n%s\nand logged\n%s", strings.Join(p.cmd.Args, " "), p.stdout, p.stderr)
		}
	})
	return p
}

// composition is what compose.yaml says of its processes.
type composition struct {
	Services map[string]struct {
		Command     []string
		Environment map[string]string
		Ports       []string
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
	}
}

func composed(t *testing.T) composition {
	t.Helper()
	var c composition
	if err := yaml.Unmarshal([]byte(read(t, deployDir+"/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range c.Services {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"api-1", "api-2", "nginx", "redis", "worker"}; !slices.Equal(names, want) {
		t.Fatalf("the services are %v, want %v", names, want)
	}
	return c
}

// TestTheTopology runs the processes of compose.yaml behind Debian's nginx, and ends one of
// the API processes in the middle.
func TestTheTopology(t *testing.T) {
	c := composed(t)
	redis := exec.Command("redis-server", append(slices.Clone(c.Services["redis"].Command[1:]), "--port", "0", "--unixsocket", "redis.sock", "--dir", ".")...)
	redis.Dir = t.TempDir()
	start(t, redis)
	url := "unix://" + filepath.Join(redis.Dir, "redis.sock")
	eventually(t, "Redis answers", func() bool { return exec.Command("redis-cli", "-s", filepath.Join(redis.Dir, "redis.sock"), "ping").Run() == nil })

	addresses := map[string]string{"api-1": freeAddress(t), "api-2": freeAddress(t), "worker": ""}
	running := map[string]*process{}
	for name, at := range addresses {
		env := []string{"RETWIS_LISTEN=" + at, "RETWIS_REDIS_URL=" + url, "RETWIS_METRICS_LISTEN=127.0.0.1:0", "RETWIS_TRUSTED_PROXIES=127.0.0.1"}
		for variable, value := range c.Services[name].Environment {
			if !slices.ContainsFunc(env, func(set string) bool { return strings.HasPrefix(set, variable+"=") }) {
				env = append(env, variable+"="+value)
			}
		}
		running[name] = launch(t, environment(env...), c.Services[name].Command...)
	}
	front := freeAddress(t)
	proxy := exec.Command("nginx", "-c", nginxConf(t, front, addresses["api-1"], addresses["api-2"]))
	start(t, proxy)
	site := "http://" + front
	awaitReady(t, "http://"+addresses["api-1"])
	awaitReady(t, "http://"+addresses["api-2"])
	eventually(t, "nginx answers", func() bool {
		r, err := http.Get(site + "/healthz")
		return err == nil && r.Body.Close() == nil && r.StatusCode == http.StatusOK
	})

	flow(t, site, "1") // sockets included
	reader, author := register(t, site, "watcher"), register(t, site, "writer")
	reader.follow(author)
	author.createPost("before")
	reader.awaitHome("before")
	var live []*stream
	var cursor string
	for range 4 { // some on each of the two
		s := reader.watchNow()
		live = append(live, s)
	}
	author.createPost("during")
	for _, s := range live {
		cursor = s.expectPost("during").Cursor
	}
	running["api-1"].stop()
	restarted := 0
	author.createPost("after")
	for _, s := range live {
		if s.restarts() {
			restarted++
			s = reader.watch(cursor)
			s.expectPost("after")
		}
		s.close()
	}
	if restarted == 0 || restarted == len(live) {
		t.Errorf("%d of %d sockets were on the process that ended", restarted, len(live))
	}
	for i := range 20 { // nginx goes by what is gone
		if status, _ := newClient(t, site).get("/healthz"); status != http.StatusOK {
			t.Fatalf("request %d: status %d", i, status)
		}
	}
	if status, _ := newClient(t, site).get("/readyz"); status != http.StatusNotFound {
		t.Errorf("the public sees /readyz: %d", status)
	}
	if got, _ := newClient(t, site).post(`{ viewer { id } }`, nil, "X-Request-Id: chosen-by-a-client"); len(got.header.Get("X-Request-Id")) != 32 {
		t.Errorf("the id of a request is %q, not that of nginx", got.header.Get("X-Request-Id"))
	}
	running["worker"].stop()
	running["api-2"].stop()
}

// restarts reports whether the next thing on a socket is that the service restarts, and not
// a post.
func (s *stream) restarts() bool {
	s.t.Helper()
	_ = s.ws.SetReadDeadline(time.Now().Add(patience))
	var m message
	return s.ws.ReadJSON(&m) != nil
}

// start runs another program until the test ends.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said\n%s", strings.Join(cmd.Args, " "), out.String())
		}
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func awaitReady(t *testing.T, url string) {
	t.Helper()
	eventually(t, url+" is ready", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
		r, err := http.DefaultClient.Do(request)
		return err == nil && r.Body.Close() == nil && r.StatusCode == http.StatusOK
	})
}

// ownRedis is a Redis with a port, which can be copied to another machine.
type ownRedis struct {
	dir  string
	port string
}

func (s ownRedis) URL() string { return "redis://127.0.0.1:" + s.port + "/0" }

// tcpRedis starts a Redis, in a folder that may hold data already.
func tcpRedis(t *testing.T, args ...string) ownRedis {
	t.Helper()
	return redisIn(t, t.TempDir(), args...)
}

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

func cli(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "redis-cli", args...).CombinedOutput()
	if err != nil || regexp.MustCompile(`(?m)^(ERR|\(error\)|\[ERR\])`).Match(out) {
		t.Fatalf("redis-cli %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// inhabited makes a database with people in it, and returns one with a home to look at.
func inhabited(t *testing.T, url string) *client {
	t.Helper()
	env := environment("RETWIS_REDIS_URL=" + url)
	p := serve(t, env)
	reader := flow(t, p.url, "")
	p.stop()
	return reader
}

// whole checks that a database is whole, and that a reader finds what was there.
func whole(t *testing.T, url string, reader *client) {
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

// TestABackup does what docs/operations.md says about backups of one Redis.
func TestABackup(t *testing.T) {
	source := tcpRedis(t, "--appendonly", "yes")
	reader := inhabited(t, source.URL())
	backup := filepath.Join(t.TempDir(), "retwis.rdb")
	cli(t, "-p", source.port, "--rdb", backup)
	cli(t, "-p", source.port, "flushall") // the accident

	dir := t.TempDir()
	content, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dump.rdb"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	restored := redisIn(t, dir, "--appendonly", "no")
	cli(t, "-p", restored.port, "config", "set", "appendonly", "yes")
	eventually(t, "the append-only file is written", func() bool {
		info := restored.cliQuietly("info", "persistence")
		return strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0") && strings.Contains(info, "aof_enabled:1")
	})
	cli(t, "-p", restored.port, "shutdown", "nosave")
	eventually(t, "Redis has ended", func() bool { return !strings.Contains(restored.cliQuietly("ping"), "PONG") })
	whole(t, redisIn(t, dir, "--appendonly", "yes").URL(), reader)
}

// TestAMove does what docs/operations.md says about going from one Redis to a cluster, and
// about the backup of a cluster.
func TestAMove(t *testing.T) {
	source := tcpRedis(t, "--appendonly", "yes")
	reader := inhabited(t, source.URL())
	group := redistest.Cluster(t, redistest.ClusterOptions{Args: []string{"--appendonly", "yes"}})
	importInto(t, group, source)
	if n := strings.TrimSpace(source.cliQuietly("dbsize")); n == "0" {
		t.Error("the source was emptied")
	}
	whole(t, group.URL(), reader)

	var backups []string
	for i, node := range group.Nodes() {
		backup := filepath.Join(t.TempDir(), fmt.Sprint(i, ".rdb"))
		cli(t, "-u", strings.TrimSuffix(node.URL(), "/0"), "--rdb", backup)
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
	out := cli(t, "--cluster", "import", first, "--cluster-from", "127.0.0.1:"+source.port, "--cluster-copy", "--cluster-replace")
	if strings.Contains(out, "[ERR]") || strings.Contains(out, "Source 127.0.0.1") && strings.Contains(out, "rror") {
		t.Fatalf("the import failed:\n%s", out)
	}
}
