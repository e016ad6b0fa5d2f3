package servertest

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
	"retwis/internal/server/operation"
)

// Timelines are the source of the events of the subscription timeline, and render them.
// The timeline "private" is for logged-in viewers, and subscriptions to "never" do not
// start before their context ends.
type Timelines struct {
	mu       sync.Mutex
	sinks    map[string][]*Attached
	rendered int
	failures int // of renderings to come
	failure  *graphql.Response
	gate     chan struct{} // renderings wait for it, when set
}

// Attached is a subscriber of a timeline.
type Attached struct {
	retwis.Sink
	After  retwis.Cursor
	Cancel context.CancelCauseFunc // ends the subscription for a reason
}

func (t *Timelines) subscribe(ctx context.Context, args map[string]any) (retwis.EventSource, error) {
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

func (t *Timelines) attach(ctx context.Context, name string, after retwis.Cursor, sink retwis.Sink) error {
	ctx, end := context.WithCancelCause(ctx)
	a := &Attached{sink, after, end}
	t.mu.Lock()
	defer t.mu.Unlock()
	sink.Take(&retwis.CaughtUp{Cursor: "start"})
	t.sinks[name] = append(t.sinks[name], a)
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.sinks[name] = slices.DeleteFunc(t.sinks[name], func(other *Attached) bool { return other == a })
		reason := context.Cause(ctx)
		if errors.Is(reason, context.Canceled) {
			reason = nil
		}
		sink.End(reason)
	})
	return nil
}

// render returns the text of an event, its cursor twice, and the viewer.
func (t *Timelines) render(ctx context.Context, e retwis.Event) *graphql.Response {
	t.mu.Lock()
	t.rendered++
	gate, failing, failure := t.gate, t.failures > 0, t.failure
	t.failures--
	t.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if failing {
		return failure
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

// Publish sends a post to all subscribers of a timeline, each at a cursor of its own. It
// returns how many of them were too far behind.
func (t *Timelines) Publish(name string, post retwis.PostID, text string) (refused int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	body := &retwis.Post{ID: post, Text: text}
	for i, a := range t.sinks[name] {
		cursor := retwis.Cursor([]string{"c0-", "cursor1-", "c2"}[i%3] + post.String())
		if !a.Take(&retwis.PostAdded{Edge: retwis.PostEdge{Cursor: cursor, Post: body}}) {
			refused++
			a.Cancel(retwis.ErrSlowConsumer)
		}
	}
	return refused
}

// FailNext makes the next renderings return some data and an error with a code.
func (t *Timelines) FailNext(renderings int, data string, code retwis.Code) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = renderings
	t.failure = &graphql.Response{Data: json.RawMessage(data), Errors: gqlerror.List{operation.Errorf(code, "outage")}}
}

// BlockOn makes renderings wait until a channel is closed.
func (t *Timelines) BlockOn(gate chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gate = gate
}

// Subscribers returns how many subscribers a timeline has.
func (t *Timelines) Subscribers(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.sinks[name])
}

// Subscriber returns a subscriber of a timeline, in the order of their start.
func (t *Timelines) Subscriber(name string, i int) *Attached {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sinks[name][i]
}

// Rendered returns how often an event was rendered.
func (t *Timelines) Rendered() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rendered
}
