//go:build deploy

package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v2"
)

// composition is the content of compose.yaml.
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

// TestTopology_SurvivesTheEndOfAProcess runs the processes of compose.yaml behind Debian's nginx, and stops one of the API
// processes.
func TestTopology_SurvivesTheEndOfAProcess(t *testing.T) {
	c := composed(t)
	redis := exec.Command("redis-server", append(slices.Clone(c.Services["redis"].Command[1:]), "--port", "0", "--unixsocket", "redis.sock", "--dir", ".")...)
	redis.Dir = t.TempDir()
	start(t, redis)
	url := "unix://" + filepath.Join(redis.Dir, "redis.sock")
	eventually(t, "Redis answers", func() bool {
		return exec.Command("redis-cli", "-s", filepath.Join(redis.Dir, "redis.sock"), "ping").Run() == nil
	})

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

	flow(t, site, "1") // with websockets
	reader, author := register(t, site, "watcher"), register(t, site, "writer")
	reader.follow(author)
	author.createPost("before")
	reader.awaitHome("before")
	var live []*stream
	var cursor string
	for range 4 { // on both processes
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
		t.Errorf("%d of %d websockets were on the stopped process", restarted, len(live))
	}
	for i := range 20 { // nginx avoids the stopped process
		if status, _ := newClient(t, site).get("/healthz"); status != http.StatusOK {
			t.Fatalf("request %d: status %d", i, status)
		}
	}
	if status, _ := newClient(t, site).get("/readyz"); status != http.StatusNotFound {
		t.Errorf("/readyz is public: %d", status)
	}
	if got, _ := newClient(t, site).post(`{ viewer { id } }`, nil, "X-Request-Id: chosen-by-a-client"); len(got.header.Get("X-Request-Id")) != 32 {
		t.Errorf("the id of a request is %q, not that of nginx", got.header.Get("X-Request-Id"))
	}
	running["worker"].stop()
	running["api-2"].stop()
}

// restarts reports whether the websocket is closed, instead of receiving an event.
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
			t.Logf("%s printed\n%s", strings.Join(cmd.Args, " "), out.String())
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
