package live

import (
	"context"
	"fmt"

	"retwis/internal/bench/measure"
)

// perEvent measures CPU and memory per subscriber on one server.
func perEvent(ctx context.Context, r *measure.Run, d *database) error {
	fans, posts := r.Size(6000, 40), r.Size(60, 6)
	costs := map[string]cost{}
	for _, kind := range []string{Raw, Centrifuge, Stock, Ours} {
		n := posts
		if kind == Stock {
			n /= 6 // it takes several times as long for each
		}
		c, err := d.deliver(ctx, kind, 1, fans, n)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		costs[kind] = c
	}
	add := func(name, unit string, goal measure.Goal, value func(cost) float64, ratios ...measure.Goal) {
		f := measure.Figure{
			Name: fmt.Sprintf("live, %d subscribers: %s", fans, name), Unit: unit, Value: value(costs[Ours]), Goal: goal,
			Beside: []measure.Baseline{
				{Name: "raw gorilla/websocket", Value: value(costs[Raw])},
				{Name: "centrifuge", Value: value(costs[Centrifuge])},
				{Name: "gqlgen's transport", Value: value(costs[Stock])},
			},
		}
		for i, ratio := range ratios {
			f.Beside[i].Goal = ratio
		}
		r.Add(f)
	}
	add("CPU per event and subscriber", "µs", measure.Goal{}, func(c cost) float64 { return c.perEvent }, measure.AtMost(1), measure.AtMost(0.5))
	add("memory per idle subscriber", "KB", measure.AtMost(8), func(c cost) float64 { return c.memory })
	add("stacks per idle subscriber", "KB", measure.AtMost(5), func(c cost) float64 { return c.stacks })
	add("goroutines per idle subscriber", "", measure.Goal{}, func(c cost) float64 { return c.goroutines })
	r.Add(measure.Figure{
		Name: fmt.Sprintf("live, %d subscribers: executions per event", fans), Value: costs[Ours].executions, Goal: measure.AtMost(1),
	})
	return nil
}

// onNodes measures the same number of subscribers on one server and on several.
func onNodes(ctx context.Context, r *measure.Run, d *database) error {
	fans, posts, several := r.Size(2000, 40), r.Size(30, 3), r.Size(8, 2)
	one, err := d.deliver(ctx, Ours, 1, fans, posts)
	if err != nil {
		return err
	}
	many, err := d.deliver(ctx, Ours, several, fans, posts)
	if err != nil {
		return err
	}
	add := func(name, unit string, value func(cost) float64) {
		r.Add(measure.Figure{
			Name: fmt.Sprintf("live, %d subscribers on %d nodes: %s", fans, several, name), Unit: unit, Value: value(many),
			Beside: []measure.Baseline{{Name: "on 1 node", Value: value(one)}},
		})
	}
	add("CPU per event and subscriber", "µs", func(c cost) float64 { return c.perEvent })
	add("executions per event", "", func(c cost) float64 { return c.executions })
	return nil
}

// manySubscribers measures a server with all subscribers.
func manySubscribers(ctx context.Context, r *measure.Run, d *database) error {
	fans := len(d.fans)
	c, err := d.deliver(ctx, Ours, 1, fans, 5)
	if err != nil {
		return err
	}
	add := func(name, unit string, value float64) {
		r.Add(measure.Figure{Name: fmt.Sprintf("live, %d subscribers: %s", fans, name), Unit: unit, Value: value})
	}
	add("CPU per event and subscriber", "µs", c.perEvent)
	add("memory per idle subscriber", "KB", c.memory)
	add("executions per event", "", c.executions)
	return nil
}
