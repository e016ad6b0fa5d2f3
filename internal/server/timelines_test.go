package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// timelines is what a hub and a resolver do for subscriptions.
type timelines struct {
	mu       sync.Mutex
	sinks    map[string][]*attached
	executed int
	failures int           // of executions to come
	gate     chan struct{} // executions wait for it, when set
	ended    int
}

type attached struct {
	retwis.Sink
	after  retwis.Cursor
	cancel context.CancelCauseFunc
}

// subscribe is the resolver.
func (t *timelines) subscribe(ctx context.Context, args map[string]any) (retwis.EventSource, error) {
	name := args["name"].(string)
	if name == "private" && auth.IdentityOf(ctx).User == 0 {
		return nil, retwis.ErrForbidden
	}
	from, _ := args["after"].(string)
	return func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
		if after == "" {
			after = retwis.Cursor(from)
		}
		if after == "broken" {
			return retwis.ErrBadCursor
		}
		if name == "never" {
			<-ctx.Done()
			return ctx.Err()
		}
		return t.attach(ctx, name, after, sink)
	}, nil
}

func (t *timelines) attach(ctx context.Context, name string, after retwis.Cursor, sink retwis.Sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &attached{sink, after, cancel}
	t.mu.Lock()
	defer t.mu.Unlock()
	sink.Take(&retwis.CaughtUp{Cursor: "start"})
	t.sinks[name] = append(t.sinks[name], a)
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.sinks[name] = slices.DeleteFunc(t.sinks[name], func(other *attached) bool { return other == a })
		t.ended++
		reason := context.Cause(ctx)
		if errors.Is(reason, context.Canceled) {
			reason = nil
		}
		sink.End(reason)
	})
	return nil
}

// execute renders an event: what its text is, its cursor twice, and for whom.
func (t *timelines) execute(ctx context.Context, e retwis.Event) *graphql.Response {
	t.mu.Lock()
	t.executed++
	gate, failing := t.gate, t.failures > 0
	t.failures--
	t.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if failing {
		return &graphql.Response{Data: json.RawMessage("null"), Errors: gqlerror.List{errorOf(retwis.CodeInternal, "outage")}}
	}
	text := "caught up"
	if added, ok := e.(*retwis.PostAdded); ok {
		text = added.Edge.Post.Text
	}
	quoted, _ := json.Marshal(text)
	cursor := `"` + string(e.EventCursor()) + `"`
	return &graphql.Response{Data: json.RawMessage(`{"cursor":` + cursor + `,"text":` + string(quoted) +
		`,"again":` + cursor + `,"viewer":"` + auth.IdentityOf(ctx).User.String() + `"}`)}
}

// publish tells all subscribers of a timeline of a post, each at a cursor of its own.
func (t *timelines) publish(name string, post retwis.PostID, text string) (refused int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	body := &retwis.Post{ID: post, Text: text}
	for i, a := range t.sinks[name] {
		cursor := retwis.Cursor([]string{"c0-", "cursor1-", "c2"}[i%3] + post.String())
		if !a.Take(&retwis.PostAdded{Edge: retwis.PostEdge{Cursor: cursor, Post: body}}) {
			refused++
			a.cancel(retwis.ErrSlowConsumer)
		}
	}
	return refused
}

func (t *timelines) set(change func(*timelines)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(t)
}

func (t *timelines) subscribers(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.sinks[name])
}

func (t *timelines) sink(name string, i int) *attached {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sinks[name][i]
}

func (t *timelines) executions() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.executed
}
