package live

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/bench/load"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/process"
	"retwis/internal/retwis"
)

// latency measures the time from the mutation over HTTP to the receipt by a subscriber.
func latency(ctx context.Context, r *measure.Run, d *database) error {
	fans, rate := r.Size(1000, 40), r.Size(200, 50)
	for _, part := range []struct {
		name      string
		followers int
		posts     int
	}{
		{"a part of", fans / 20, r.Size(1000, 10)},
		{"all of", fans, r.Size(400, 10)},
	} {
		s, err := process.StartChild(ctx, Ours, d.URL)
		if err != nil {
			return err
		}
		latencies, err := d.latencies(ctx, s, fans, part.followers, rate, part.posts)
		s.Stop()
		if err != nil {
			return err
		}
		slices.Sort(latencies)
		name := fmt.Sprintf("live, %d posts/s to %d of %d subscribers: ", rate, part.followers, fans)
		for _, at := range []struct {
			name     string
			quantile float64
		}{{"median", 0.5}, {"p99", 0.99}, {"max", 1}} {
			took := latencies[int(at.quantile*float64(len(latencies)-1))]
			r.Add(measure.Figure{Name: name + at.name + " from mutation to receipt", Unit: "ms", Value: micros(took) / 1000})
		}
	}
	return nil
}

// latencies has authors with a number of followers each post at a rate.
func (d *database) latencies(ctx context.Context, s *process.Child, fans, followers, rate, posts int) ([]time.Duration, error) {
	authors, err := d.AddUsers(ctx, fmt.Sprint("circle", followers, "x"), fans/followers)
	if err != nil {
		return nil, err
	}
	for i, author := range authors {
		if err := d.AddFollowers(ctx, author, d.fans[i*followers:(i+1)*followers]); err != nil {
			return nil, err
		}
	}
	if err := d.AwaitDelivery(ctx); err != nil {
		return nil, err
	}
	var a audience
	defer a.close()
	if err := a.connect(ctx, []*process.Child{s}, d.fans[:fans], nil); err != nil {
		return nil, err
	}
	if err := a.await(ctx, &a.caughtUp, fans); err != nil {
		return nil, err
	}
	if err := postAtRate(ctx, s, authors, rate, posts); err != nil {
		return nil, err
	}
	if err := a.await(ctx, &a.received, posts*followers); err != nil {
		return nil, err
	}
	a.close()
	return a.latencies, nil
}

// postAtRate creates posts over HTTP. The authors take turns.
func postAtRate(ctx context.Context, s *process.Child, authors []retwis.UserID, rate, posts int) error {
	c, err := load.NewClient(s.URL(), 64, 10*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	start := time.Now()
	for i := range posts {
		if wait := time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate))); wait > 0 {
			time.Sleep(wait)
		}
		group.Go(func() error {
			return c.Do(ctx, authors[i%len(authors)].String(), load.NewRequest(
				`mutation { createPost(input: { text: "`+timedText()+`" }) { edge { node { id } } userErrors { code } } }`, nil), nil)
		})
	}
	return group.Wait()
}

// resuming measures subscribers who all resume at once, each with posts to catch up on.
func resuming(ctx context.Context, r *measure.Run, d *database) error {
	fans, missed := r.Size(5000, 40), r.Size(20, 3)
	s, err := process.StartChild(ctx, Ours, d.URL)
	if err != nil {
		return err
	}
	defer s.Stop()
	servers := []*process.Child{s}
	var before audience
	if err := before.connect(ctx, servers, d.fans[:fans], nil); err != nil {
		return err
	}
	if err := before.await(ctx, &before.caughtUp, fans); err != nil {
		return err
	}
	cursors := before.close()
	for range missed {
		if err := d.post(ctx); err != nil {
			return err
		}
	}
	if err := d.AwaitDelivery(ctx); err != nil {
		return err
	}
	start, err := s.Usage()
	if err != nil {
		return err
	}
	began := time.Now()
	var after audience
	defer after.close()
	if err := after.connect(ctx, servers, d.fans[:fans], cursors); err != nil {
		return err
	}
	for count, want := range map[*atomic.Int64]int{&after.caughtUp: fans, &after.received: fans * missed} {
		if err := after.await(ctx, count, want); err != nil {
			return err
		}
	}
	took := time.Since(began)
	end, err := s.Usage()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("live, %d subscribers resume with %d posts to catch up on: ", fans, missed)
	r.Add(measure.Figure{Name: name + "time", Unit: "s", Value: took.Seconds()})
	r.Add(measure.Figure{Name: name + "CPU per subscriber", Unit: "µs", Value: micros(end.CPU-start.CPU) / float64(fans)})
	r.Add(measure.Figure{Name: name + "executions", Value: float64(end.Executions - start.Executions)})
	return nil
}
