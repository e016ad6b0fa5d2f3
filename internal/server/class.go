package server

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

const (
	maxClasses  = 4096             // beyond, an operation is executed for itself
	maxLanes    = 8                // goroutines that serve one class
	maxPending  = 1024             // live events of one subscription that wait to be rendered
	renderTime  = 10 * time.Second // for one event, an outage included
	renderPause = 50 * time.Millisecond
)

// classes are the render classes with members. An operation of a subscription is executed
// once per event and class, and not once per subscriber.
//
// A class executes as nobody, unless the operation selects what depends on the viewer:
// then it is a class of that viewer alone. So even a field that is not marked as it
// should be shows nobody what another may see.
type classes struct {
	engine engine
	ctx    context.Context // ends with the server
	shared renderings
	counts counters

	mu    sync.Mutex
	byKey map[classKey]*class
}

type classKey struct {
	operation string
	viewer    retwis.UserID // 0 where it makes no difference
}

type counters struct{ executions, deliveries atomic.Int64 }

// class is a set of subscriptions that are sent the same bytes, but for the cursor.
type class struct {
	classes *classes
	key     classKey
	alone   bool // of one member, and in no index
	members int  // guarded by classes.mu
	lanes   []lane
	turn    atomic.Uint32

	rendering sync.Mutex // one event at a time
	op        *graphql.OperationContext
}

func newClasses(ctx context.Context, e engine) *classes {
	return &classes{engine: e, ctx: ctx, byKey: map[classKey]*class{}}
}

// join makes a subscription a member of its class.
func (r *classes) join(op *graphql.OperationContext, viewer retwis.UserID) *class {
	operation, ofViewer := r.engine.exec.RenderGroup(op)
	key := classKey{operation: operation}
	if ofViewer || operation == "" {
		key.viewer = viewer
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.byKey[key]
	if c == nil {
		c = &class{classes: r, key: key, op: op}
		if c.alone = operation == "" || len(r.byKey) >= maxClasses; !c.alone {
			r.byKey[key] = c
		}
		c.lanes = make([]lane, 1)
		if !c.alone && key.viewer == 0 {
			c.lanes = make([]lane, max(1, min(runtime.GOMAXPROCS(0)/2, maxLanes)))
		}
	}
	c.members++
	return c
}

// leave undoes join.
func (c *class) leave() {
	c.classes.mu.Lock()
	defer c.classes.mu.Unlock()
	if c.members--; c.members == 0 && !c.alone {
		delete(c.classes.byKey, c.key)
	}
}

// render returns the bytes of an event for all members. It fails when the server stops,
// or when what the executor returns has no JSON.
func (c *class) render(e retwis.Event) (*rendered, error) {
	if c.alone {
		return c.execute(e)
	}
	m, ok := momentOf(e)
	if !ok {
		return c.execute(e)
	}
	return c.classes.shared.get(renderKey{c, m}, func() (*rendered, error) { return c.execute(e) })
}

// execute runs the operation for one event. What failed for reasons that pass is tried
// again for a while: subscribers resume by cursor, and would not ask for it again.
func (c *class) execute(e retwis.Event) (*rendered, error) {
	c.rendering.Lock()
	defer c.rendering.Unlock()
	mark := newMark()
	event := retwis.AtCursor(e, mark)
	if event == nil {
		return nil, fmt.Errorf("an event of the unknown type %T", e)
	}
	giveUp := time.Now().Add(renderTime)
	for wait := renderPause; ; wait = min(2*wait, time.Second) {
		c.classes.counts.executions.Add(1)
		response, err := c.once(event)
		if err != nil {
			return nil, err
		}
		failed := string(response.Data) == "null" && hasCode(response.Errors, retwis.CodeInternal)
		if !failed || time.Now().Add(wait).After(giveUp) {
			return cutAt(mark, response)
		}
		if err := sleep.For(c.classes.ctx, wait); err != nil {
			return nil, err
		}
	}
}

// once executes the operation for one event.
func (c *class) once(event retwis.Event) (*graphql.Response, error) {
	ctx := c.classes.ctx
	if c.key.viewer != 0 {
		ctx = auth.WithIdentity(ctx, auth.Identity{User: c.key.viewer})
	}
	ctx, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	return c.classes.engine.render(ctx, c.op, event)
}

// nextLane returns the lane of one more member.
func (c *class) nextLane() *lane {
	return &c.lanes[int(c.turn.Add(1))%len(c.lanes)]
}

// Stats say what a [Server] does for subscriptions.
type Stats struct {
	Clients    int   // websockets and streams of events, open now
	Classes    int   // with members now
	Executions int64 // of operations for events
	Deliveries int64 // of events to subscribers
}

// Stats returns what the server has done so far.
func (s *Server) Stats() Stats {
	r := s.sockets
	r.mu.Lock()
	clients := len(r.open)
	r.mu.Unlock()
	c := r.classes
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{
		Clients:    clients,
		Classes:    len(c.byKey),
		Executions: c.counts.executions.Load(),
		Deliveries: c.counts.deliveries.Load(),
	}
}
