package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"retwis/internal/redistest"
)

// TestBystander_IsServedBesideHeavyClients runs clients that use their whole budgets, and then do not stop asking, beside
// one that reads a few posts and must be answered each time. At full size, it logs how much longer that one waits than at rest,
// and than beside other programs that keep all cores busy. The heavy clients have the lowest priority, but share the cores.
func TestBystander_IsServedBesideHeavyClients(t *testing.T) {
	if !redistest.Soak() {
		t.Parallel()
	}
	env := environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_RATE_LIMITS=on")
	people := redistest.Size(200, 3000)
	if code, _, stderr := invoke(t, env, "seed", "--users", fmt.Sprint(people), "--avg-follows", "20",
		"--posts", fmt.Sprint(5*people), "--star", fmt.Sprint(people)); code != 0 {
		t.Fatal(stderr)
	}
	p := serve(t, env)
	reader := newClient(t, p.url)
	ids := reader.do(`{ user(username: "star") { id } publicTimeline { id } }`, nil).Data
	since := deepCursor(reader, redistest.Size(2, 9))
	loads := []load{
		{Attack: "heavy operations", Addresses: 1, Connections: 200},
		{Attack: "heavy operations", Addresses: 1, Connections: 16},
		{Attack: "heavy operations", Addresses: 20, Connections: 2},
		{Attack: "work without Redis", Addresses: 1, Connections: 200},
		{Attack: "files", Addresses: 1, Connections: 200},
		{Attack: "slow uploads", Addresses: 1, Connections: 200},
		{Attack: "unread answers", Addresses: 1, Connections: 50},
		{Attack: "websockets in fragments", Addresses: 1, Connections: 50},
		{Attack: "event streams that reconnect", Addresses: 1, Connections: 50},
		{Attack: "websockets that reconnect", Addresses: 1, Connections: 50},
		{Attack: "bursts of small operations", Addresses: 1, Connections: 90, Rise: 2 * time.Second},
		{Attack: "filtered replays", Addresses: 1, Connections: 400},
		{Attack: "posts to event streams", Addresses: 1, Connections: 950, Rise: 2 * time.Second},
		{Attack: "events of many selections", Addresses: 1, Connections: 150, Rise: 2 * time.Second},
		{Attack: "mutations with large answers", Addresses: 1, Connections: 290, Rise: time.Second},
	}
	for number, l := range loads[:redistest.Size(1, len(loads))] {
		l.URL, l.Star, l.Public, l.Since = p.url, ids.User.ID, ids.PublicTimeline.ID, since
		t.Run(l.name(), func(t *testing.T) {
			var quiet, busy, loaded []time.Duration
			refused := 0
			windows, requests := redistest.Size(1, 5), redistest.Size(50, 300)
			for window := range windows {
				bystander := fmt.Sprintf("127.200.%d.%d", number+1, window+1) // with a full budget
				l.Network = fmt.Sprintf("127.%d.%d", number+1, window+1)      // too
				quiet = append(quiet, slowest(t, p.url, bystander, requests))
				idle := occupyCores(t)
				busy = append(busy, slowest(t, p.url, bystander, requests))
				idle()
				end := l.start(t)
				loaded = append(loaded, slowest(t, p.url, bystander, requests))
				refused += end()
			}
			rest, beside, during := median(quiet), median(busy), median(loaded)
			t.Logf("p99 at rest %v, beside busy programs %v, beside heavy clients %v: %.1f and %.1f times; %d of their requests were refused",
				rest, beside, during, float64(during)/float64(rest), float64(during)/float64(beside), refused)
		})
	}
	p.stop()
}

// deepCursor returns the cursor at the end of the first pages of the public timeline.
func deepCursor(c *client, pages int) string {
	c.t.Helper()
	var end *string
	for range pages {
		page := c.do(`query ($after: Cursor) { publicTimeline { posts(first: 100, after: $after) { pageInfo { endCursor } } } }`,
			map[string]any{"after": end}).Data.PublicTimeline.Posts
		end = &page.PageInfo.EndCursor
	}
	return *end
}

// occupyCores starts a program for each core that does nothing but keep it busy, and returns a function that stops them.
func occupyCores(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var started []*exec.Cmd
	for range runtime.NumCPU() {
		busy := exec.CommandContext(ctx, "nice", "-n", "19", "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, busy)
	}
	return func() {
		cancel()
		for _, busy := range started {
			_ = busy.Wait() // it was killed
		}
	}
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// slowest sends requests of a light client from an address, one after the other. It returns the 99th percentile of how long
// they take.
func slowest(t *testing.T, url, address string, requests int) time.Duration {
	t.Helper()
	c := newClientAt(t, url, address)
	var took []time.Duration
	for range requests {
		start := time.Now()
		got, body := c.request(http.MethodPost, "/graphql",
			[]byte(`{"query": "{ publicTimeline { posts(first: 3) { edges { node { text author { username } } } } } }"}`),
			"Content-Type: application/json")
		took = append(took, time.Since(start))
		if got.status != http.StatusOK || !strings.Contains(string(body), `"text"`) {
			t.Fatalf("a light client gets %d %s", got.status, body)
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
