package gqlws

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/retwis"
	"retwis/internal/server/clients"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
)

// maxSingle is how many queries and mutations may run on one socket.
const maxSingle = 100

// subscribe starts an operation.
func (s *socket) subscribe(m message) {
	if !s.ready {
		s.conn.Refuse(closeNotReady, "Unauthorized")
		return
	}
	params, err := httpapi.DecodeParams(m.Payload)
	if err != nil {
		s.handler.Runner.Refused(s.ctx, len(m.Payload))
		s.conn.Close(CloseInvalid, "Invalid message: "+err.Error())
		return
	}
	op := newSubscriber(s, *m.ID)
	s.mu.Lock()
	taken := s.operationLocked(op.id) != nil
	closing := s.closing != nil
	s.mu.Unlock()
	switch {
	case taken:
		s.conn.Refuse(closeDuplicate, "Subscriber for "+op.id+" already exists")
		return
	case closing:
		s.payForNothing(len(m.Payload))
		return
	}

	ctx, cancel := context.WithCancel(s.ctx)
	op.cancel = cancel
	opCtx, _, failure := s.handler.Runner.Prepare(ctx, params, false)
	started := false
	if failure == nil {
		op.kind = opCtx.Operation.Operation
		started, failure = s.add(op)
	}
	if started {
		go s.run(ctx, op, opCtx)
		return
	}
	cancel()
	if failure != nil {
		s.conn.Send(s.failure(op, failure.Errors))
	}
}

// add registers an operation, or returns the response that names the limit it exceeds. On
// a socket that is closing it does neither.
func (s *socket) add(op *subscriber) (added bool, failure *graphql.Response) {
	limit, what := maxSingle, "operations"
	if op.kind == ast.Subscription {
		limit, what = s.handler.SubscriptionsPerSocket, "subscriptions"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing != nil:
		return false, nil
	// Completed operations take a moment to stop. A client that accumulates them has to wait.
	case s.countLocked(op.kind) >= limit, s.running >= 2*(s.handler.SubscriptionsPerSocket+maxSingle):
		return false, operation.RateLimited(clients.RetryAfter, "this connection has too many running %s", what)
	}
	if failure := s.quota(op).Acquire(clients.ClientOf(s.ctx)); failure != nil {
		return false, failure
	}
	s.operations = append(s.operations, op)
	op.active = true
	op.uses = 1
	s.running++
	s.handler.Conns.Tasks.Add(1)
	return true, nil
}

// quota returns the quota of the client that the operation counts for.
func (s *socket) quota(op *subscriber) *clients.Quota {
	if op.kind == ast.Subscription {
		return s.handler.Subscriptions
	}
	return s.handler.Operations
}

// run executes an operation and sends the response. It returns when the operation is over
// or, in the case of a subscription, when it has started.
func (s *socket) run(ctx context.Context, op *subscriber, opCtx *graphql.OperationContext) {
	defer s.stopped(op)
	if op.kind != ast.Subscription {
		response := s.handler.Runner.Run(s.withUserAgent(ctx), opCtx)
		if ctx.Err() != nil { // thousands may end with their websockets, and nobody receives the responses
			response = nil
			defer s.handler.Shares.Decode(s.handler.ctx, clients.ClientOf(ctx).OfNetwork()).End()
		}
		s.finish(op, response)
		return
	}
	source, failure := s.handler.Runner.Subscribe(ctx, opCtx)
	if failure != nil {
		s.finish(op, failure)
		return
	}
	s.start(ctx, op, opCtx, source)
}

// start makes the operation a member of its render group. From then on it has no goroutine.
func (s *socket) start(ctx context.Context, op *subscriber, opCtx *graphql.OperationContext, source retwis.EventSource) {
	s.use(op)
	if err := s.handler.Groups.Join(&op.Member, opCtx, clients.ClientOf(s.ctx), op); err != nil {
		operation.Refuse(source, err)
		s.ended(ctx, op, opCtx, err)
		s.stopped(op)
		return
	}
	if err := source(ctx, "", op); err != nil {
		op.Withdraw()
		s.ended(ctx, op, opCtx, err)
		s.stopped(op)
	}
}

// complete stops an operation at the client's request. An id without an operation is no error: the end of the operation and the
// request may have crossed.
func (s *socket) complete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op := s.operationLocked(id); op != nil {
		s.removeLocked(op)
		op.cancel()
	}
}

// operationLocked returns the operation with an id, or nil.
func (s *socket) operationLocked(id string) *subscriber {
	for _, op := range s.operations {
		if op.id == id {
			return op
		}
	}
	return nil
}

// countLocked returns the number of operations of a kind.
func (s *socket) countLocked(kind ast.Operation) int {
	n := 0
	for _, op := range s.operations {
		if op.kind == kind {
			n++
		}
	}
	return n
}

// removeLocked frees the operation's id and its share of the limits of the socket.
func (s *socket) removeLocked(op *subscriber) {
	if !op.active {
		return
	}
	op.active = false
	s.operations = slices.DeleteFunc(s.operations, func(other *subscriber) bool { return other == op })
	if s.closing != nil && s.countLocked(ast.Mutation) == 0 {
		s.conn.Close(s.closing.code, s.closing.reason)
	}
}

// use counts one more user of the operation. It has stopped when each of them has called
// stopped.
func (s *socket) use(op *subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op.uses++
}

// stopped notes that the operation's goroutine has ended, or the source of its events.
func (s *socket) stopped(op *subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.uses--; op.uses > 0 {
		return
	}
	op.cancel()
	s.removeLocked(op)
	s.quota(op).Release(clients.ClientOf(s.ctx)) // one that the client has completed takes memory until it stops
	s.running--
	s.handler.Conns.Tasks.Done()
}
