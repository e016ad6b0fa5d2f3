package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"retwis/internal/bench"
	"retwis/internal/fanout"
	"retwis/internal/retwis"
)

// liveServer is a server in a process of its own.
type liveServer struct {
	kind    string
	address string
	cmd     *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
}

func startLive(ctx context.Context, kind, redisURL string) (*liveServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &liveServer{kind: kind, cmd: exec.CommandContext(ctx, self, "-live", kind, "-redis", redisURL)}
	s.cmd.Stderr = os.Stderr
	if s.input, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.output = bufio.NewReader(output)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.address, err = s.output.ReadString('\n')
	s.address = strings.TrimSpace(s.address)
	return s, err
}

// used returns what the server has used.
func (s *liveServer) used() (usage, error) { return s.say("") }

// say asks for more: a collection of garbage, or of a raw server to broadcast a line.
func (s *liveServer) say(line string) (u usage, err error) {
	if _, err := io.WriteString(s.input, line+"\n"); err != nil {
		return u, err
	}
	answer, err := s.output.ReadString('\n')
	if err != nil {
		return u, err
	}
	return u, json.Unmarshal([]byte(answer), &u)
}

func (s *liveServer) stop() {
	_ = s.input.Close()
	_ = s.cmd.Wait()
}

// liveWorld is a database with a worker and an author whom many follow.
type liveWorld struct {
	*bench.World
	author retwis.UserID
	fans   []retwis.UserID
	stop   func()
}

func newLiveWorld(ctx context.Context, fans int) (*liveWorld, error) {
	w, err := bench.NewWorld(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = fanout.New(w.Store, fanout.Options{}).Run(ctx)
	}()
	l := &liveWorld{World: w, stop: func() { cancel(); <-done; w.Close() }}
	ids, err := w.Crowd(ctx, "reader", fans+1)
	if err == nil {
		l.author, l.fans = ids[0], ids[1:]
		err = w.Fans(ctx, l.fans, l.author)
	}
	if err == nil {
		err = w.Drained(ctx)
	}
	if err != nil {
		l.stop()
		return nil, err
	}
	return l, nil
}

// tell makes a post that says when it was made.
func (l *liveWorld) tell(ctx context.Context) error {
	_, err := l.CreatePost(ctx, retwis.NewPost{Author: l.author, Text: timedText(), IdempotencyKey: rand.Text()})
	return err
}

func timedText() string {
	return fmt.Sprintf("at %d a post of the usual length, which is about as long as this", time.Now().UnixNano())
}

const (
	liveFans  = 2_000
	livePosts = 60
)

// measureLive measures what it costs to tell many subscribers of a post.
func measureLive(ctx context.Context, r *report) error {
	l, err := newLiveWorld(ctx, 10_000)
	if err != nil {
		return err
	}
	defer l.stop()
	for _, part := range []func(context.Context, *report, *liveWorld) error{
		measureDelivery, measureNodes, measureLatency, measureHerd, measureMany,
	} {
		if err := part(ctx, r, l); err != nil {
			return err
		}
	}
	return nil
}

// cost is what posts to an audience have cost the servers together.
type cost struct {
	perEvent   time.Duration // CPU per event and subscriber
	memory     float64       // bytes per idle subscriber
	goroutines float64       // per idle subscriber
	executions float64       // per event
}

// deliver has an audience on servers of a kind, and makes posts.
func (l *liveWorld) deliver(ctx context.Context, kind string, nodes, fans, posts int) (cost, error) {
	var c cost
	servers, stop, err := startSeveral(ctx, kind, l.URL, nodes)
	defer stop()
	if err != nil {
		return c, err
	}
	var a audience
	defer a.leave()
	// Half of them come first: what a process needs for any number of them is no memory of
	// one more.
	var before, idle usage
	for _, half := range [][]retwis.UserID{l.fans[:fans/2], l.fans[fans/2 : fans]} {
		if err := a.connect(ctx, servers, half, nil); err != nil {
			return c, err
		}
		if kind != liveRaw {
			if err := a.await(ctx, &a.caughtUp, len(a.clients)); err != nil {
				return c, err
			}
		}
		before = idle
		if idle, err = usedBy(servers, collectFirst); err != nil {
			return c, err
		}
	}
	for i := range posts {
		if kind == liveRaw {
			_, err = servers[0].say(rawMessage())
		} else {
			err = l.tell(ctx)
		}
		if err != nil {
			return c, err
		}
		if err := a.await(ctx, &a.received, (i+1)*fans); err != nil {
			return c, err
		}
	}
	after, err := usedBy(servers, "")
	if err != nil {
		return c, err
	}
	c.perEvent = (after.CPU - idle.CPU) / time.Duration(posts*fans)
	c.memory = float64(idle.Memory-before.Memory) / float64(fans-fans/2)
	c.goroutines = float64(idle.Goroutines-before.Goroutines) / float64(fans-fans/2)
	c.executions = float64(after.Executions-idle.Executions) / float64(posts)
	return c, nil
}

// rawMessage returns one as long as what the API sends.
func rawMessage() string {
	return `{"type":"next","payload":{"data":{"timelineEvents":{"__typename":"PostAdded","cursor":"` + strings.Repeat("c", 58) +
		`","edge":{"cursor":"` + strings.Repeat("c", 58) + `","node":{"id":"UG9zdDoyODA0MTI1NTU4OTAwMDAx","text":"` + timedText() +
		`","createdAt":"2026-11-01T12:00:00.000Z","author":{"id":"VXNlcjoyODA0MTI1NTU4OTAwMDAx","username":"reader0","displayName":"reader0"}}}}}},"id":"1"}`
}

func startSeveral(ctx context.Context, kind, url string, n int) (servers []*liveServer, stop func(), err error) {
	stop = func() {
		for _, s := range servers {
			s.stop()
		}
	}
	for range n {
		s, err := startLive(ctx, kind, url)
		if err != nil {
			return nil, stop, err
		}
		servers = append(servers, s)
	}
	return servers, stop, nil
}

func usedBy(servers []*liveServer, how string) (sum usage, err error) {
	for _, s := range servers {
		u, err := s.say(how)
		if err != nil {
			return sum, err
		}
		sum.CPU += u.CPU
		sum.Memory += u.Memory
		sum.Goroutines += u.Goroutines
		sum.Clients += u.Clients
		sum.Executions += u.Executions
	}
	return sum, nil
}

func measureDelivery(ctx context.Context, r *report, l *liveWorld) error {
	costs := map[string]cost{}
	for _, kind := range []string{liveRaw, liveStock, liveOurs} {
		posts := livePosts
		if kind == liveStock {
			posts /= 6
		}
		c, err := l.deliver(ctx, kind, 1, liveFans, posts)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		costs[kind] = c
	}
	ours, raw, gql := costs[liveOurs], costs[liveRaw], costs[liveStock]
	r.add("live: CPU per event and subscriber, 2 000 subscribers", micro(ours.perEvent),
		fmt.Sprintf("gqlgen's transport %s, raw gorilla %s", micro(gql.perEvent), micro(raw.perEvent)), "≤ 3 µs")
	r.add("live: executions per event, 2 000 subscribers", fmt.Sprintf("%.2f", ours.executions), "", "1")
	r.add("live: memory per idle subscriber", fmt.Sprintf("%.1f KB, %.2f goroutines", ours.memory/1024, ours.goroutines),
		fmt.Sprintf("gqlgen's transport %.1f KB, %.2f; raw gorilla %.1f KB, %.2f",
			gql.memory/1024, gql.goroutines, raw.memory/1024, raw.goroutines), "≤ 15 KB")
	return nil
}

func measureNodes(ctx context.Context, r *report, l *liveWorld) error {
	var costs []cost
	for _, nodes := range []int{1, 8} {
		c, err := l.deliver(ctx, liveOurs, nodes, liveFans, livePosts/2)
		if err != nil {
			return err
		}
		costs = append(costs, c)
	}
	r.add("live: CPU per event and subscriber on 8 nodes, 2 000 subscribers in all", micro(costs[1].perEvent),
		fmt.Sprintf("on 1 node %s; executions per event %.0f and %.0f", micro(costs[0].perEvent), costs[1].executions, costs[0].executions), "")
	return nil
}

func micro(d time.Duration) string { return fmt.Sprintf("%.2f µs", float64(d)/1e3) }

// measureLatency posts over HTTP, from the mutation to the receipt.
func measureLatency(ctx context.Context, r *report, l *liveWorld) error {
	const fans, rate = 1_000, 200
	for _, part := range []struct {
		name      string
		followers int
		seconds   int
	}{
		{"each to 50 of 1 000 online", 50, 5},
		{"each to all of 1 000 online", fans, 2},
	} {
		s, err := startLive(ctx, liveOurs, l.URL)
		if err != nil {
			return err
		}
		latencies, err := l.latencies(ctx, s, fans, part.followers, rate, part.seconds)
		s.stop()
		if err != nil {
			return err
		}
		slices.Sort(latencies)
		at := func(q float64) string {
			return latencies[int(q*float64(len(latencies)-1))].Round(10 * time.Microsecond).String()
		}
		r.add(fmt.Sprintf("live: p99 from mutation to receipt, %d posts/s, %s", rate, part.name), at(0.99),
			fmt.Sprintf("median %s, longest %s, %s receipts", at(0.5), at(1), thousands(float64(len(latencies)))), "")
	}
	return nil
}

func (l *liveWorld) latencies(ctx context.Context, s *liveServer, fans, followers, rate, seconds int) ([]time.Duration, error) {
	authors, err := l.Crowd(ctx, fmt.Sprint("circle", followers, "x"), fans/followers)
	if err != nil {
		return nil, err
	}
	for i, author := range authors {
		if err := l.Fans(ctx, l.fans[i*followers:(i+1)*followers], author); err != nil {
			return nil, err
		}
	}
	if err := l.Drained(ctx); err != nil {
		return nil, err
	}
	var a audience
	defer a.leave()
	if err := a.connect(ctx, []*liveServer{s}, l.fans[:fans], nil); err != nil {
		return nil, err
	}
	if err := a.await(ctx, &a.caughtUp, fans); err != nil {
		return nil, err
	}
	if err := postSteadily(ctx, s, authors, rate, rate*seconds); err != nil {
		return nil, err
	}
	if err := a.await(ctx, &a.received, rate*seconds*followers); err != nil {
		return nil, err
	}
	a.leave()
	return a.latencies, nil
}

// measureHerd has everybody come back at once, with posts to be told that they missed.
func measureHerd(ctx context.Context, r *report, l *liveWorld) error {
	const fans, missed = 5_000, 20
	s, err := startLive(ctx, liveOurs, l.URL)
	if err != nil {
		return err
	}
	defer s.stop()
	servers := []*liveServer{s}
	var before audience
	if err := before.connect(ctx, servers, l.fans[:fans], nil); err != nil {
		return err
	}
	if err := before.await(ctx, &before.caughtUp, fans); err != nil {
		return err
	}
	cursors := before.leave()
	for range missed {
		if err := l.tell(ctx); err != nil {
			return err
		}
	}
	if err := l.Drained(ctx); err != nil {
		return err
	}
	start, err := s.used()
	if err != nil {
		return err
	}
	began := time.Now()
	var after audience
	defer after.leave()
	if err := after.connect(ctx, servers, l.fans[:fans], cursors); err != nil {
		return err
	}
	for count, want := range map[*atomic.Int64]int{&after.caughtUp: fans, &after.received: fans * missed} {
		if err := after.await(ctx, count, want); err != nil {
			return err
		}
	}
	took := time.Since(began)
	end, err := s.used()
	if err != nil {
		return err
	}
	r.add("live: a herd of 5 000 comes back, each with 20 posts to be told", took.Round(time.Millisecond).String(),
		fmt.Sprintf("CPU per client %s; %d executions for %s events", micro((end.CPU-start.CPU)/fans),
			end.Executions-start.Executions, thousands(fans*(missed+1))), "")
	return nil
}

func measureMany(ctx context.Context, r *report, l *liveWorld) error {
	c, err := l.deliver(ctx, liveOurs, 1, len(l.fans), 5)
	if err != nil {
		return err
	}
	r.add("live: 10 000 subscribers, CPU per event and subscriber", micro(c.perEvent),
		fmt.Sprintf("%.1f KB per idle subscriber, %.2f executions per event", c.memory/1024, c.executions), "")
	return nil
}
