// Package live measures the delivery of posts to many open subscriptions.
package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	"retwis/internal/bench/measure"
	"retwis/internal/bench/process"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// database is a database with a worker and an author with many followers.
type database struct {
	*world.World
	author retwis.UserID
	fans   []retwis.UserID
	stop   func()
}

func newDatabase(ctx context.Context, fans int) (*database, error) {
	w, err := world.Start(ctx)
	if err != nil {
		return nil, err
	}
	_, stopWorker := w.StartWorker(ctx)
	d := &database{World: w, stop: func() { stopWorker(); w.Close() }}
	ids, err := w.AddUsers(ctx, "reader", fans+1)
	if err == nil {
		d.author, d.fans = ids[0], ids[1:]
		err = w.AddFollowers(ctx, d.author, d.fans)
	}
	if err == nil {
		err = w.AwaitDelivery(ctx)
	}
	if err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

// post creates a post that contains the time of its creation.
func (d *database) post(ctx context.Context) error { return d.AddPostOf(ctx, d.author, timedText()) }

func timedText() string {
	return fmt.Sprintf("at %d a post of the usual length, which is about as long as this", time.Now().UnixNano())
}

// Delivery measures what it costs to deliver a post to many subscribers. The baselines are gqlgen's own
// websocket transport, a server that writes a prepared message to each websocket with gorilla/websocket, and a node of centrifuge
// with recovery. The last two have no database.
func Delivery(ctx context.Context, r *measure.Run) error {
	d, err := newDatabase(ctx, r.Size(10_000, 80))
	if err != nil {
		return err
	}
	defer d.stop()
	for _, part := range []func(context.Context, *measure.Run, *database) error{perEvent, onNodes, latency, resuming, manySubscribers} {
		if err := part(ctx, r, d); err != nil {
			return err
		}
	}
	return nil
}

// cost is what posts have cost the servers together.
type cost struct {
	perEvent   float64 // CPU time per event and subscriber, in µs
	memory     float64 // per idle subscriber, in KB
	stacks     float64 // of it
	goroutines float64 // per idle subscriber
	executions float64 // per event
}

// deliver opens subscriptions on servers of a kind, and creates posts.
func (d *database) deliver(ctx context.Context, kind string, nodes, fans, posts int) (c cost, err error) {
	servers, stop, err := startServers(ctx, kind, d.URL, nodes)
	defer stop()
	if err != nil {
		return c, err
	}
	var a audience
	defer a.close()
	// The second half shows the memory of one more subscriber: what a process needs for any number of
	// them is allocated with the first half.
	var before, idle process.Usage
	for _, half := range [][]retwis.UserID{d.fans[:fans/2], d.fans[fans/2 : fans]} {
		if err := a.connect(ctx, servers, half, nil); err != nil {
			return c, err
		}
		if err := a.await(ctx, &a.caughtUp, len(a.clients)); err != nil {
			return c, err
		}
		before = idle
		if idle, err = usage(servers, (*process.Child).Collect); err != nil {
			return c, err
		}
	}
	for i := range posts {
		if kind == Raw || kind == Centrifuge {
			err = servers[0].Broadcast(rawMessage())
		} else {
			err = d.post(ctx)
		}
		if err != nil {
			return c, err
		}
		if err := a.await(ctx, &a.received, (i+1)*fans); err != nil {
			return c, err
		}
	}
	after, err := usage(servers, (*process.Child).Usage)
	if err != nil {
		return c, err
	}
	added := float64(fans - fans/2)
	return cost{
		perEvent:   micros(after.CPU-idle.CPU) / float64(posts*fans),
		memory:     float64(idle.Memory-before.Memory) / 1024 / added,
		stacks:     float64(idle.Stacks-before.Stacks) / 1024 / added,
		goroutines: float64(idle.Goroutines-before.Goroutines) / added,
		executions: float64(after.Executions-idle.Executions) / float64(posts),
	}, nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// rawMessage returns a message as long as one of the API.
func rawMessage() string {
	return `{"type":"next","payload":{"data":{"timelineEvents":{"__typename":"PostAdded","cursor":"` + strings.Repeat("c", 58) +
		`","edge":{"cursor":"` + strings.Repeat("c", 58) + `","node":{"id":"UG9zdDoyODA0MTI1NTU4OTAwMDAx","text":"` + timedText() +
		`","createdAt":"2026-11-01T12:00:00.000Z","author":{"id":"VXNlcjoyODA0MTI1NTU4OTAwMDAx","username":"reader0","displayName":"reader0"}}}}}},"id":"1"}`
}

func startServers(ctx context.Context, kind, url string, n int) (servers []*process.Child, stop func(), err error) {
	stop = func() {
		for _, s := range servers {
			s.Stop()
		}
	}
	for range n {
		s, err := process.StartChild(ctx, kind, url)
		if err != nil {
			return nil, stop, err
		}
		servers = append(servers, s)
	}
	return servers, stop, nil
}

// usage adds up the usage of servers.
func usage(servers []*process.Child, of func(*process.Child) (process.Usage, error)) (process.Usage, error) {
	var all []process.Usage
	for _, s := range servers {
		u, err := of(s)
		if err != nil {
			return process.Usage{}, err
		}
		all = append(all, u)
	}
	return process.Sum(all), nil
}
