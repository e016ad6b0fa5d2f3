package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// operation is one query, mutation or subscription of a socket, under way.
type operation struct {
	member  // of a class, where it is a subscription
	socket  *socket
	wireID  []byte // the id as JSON
	entered bool   // it is the socket's operation of that id; it may not send otherwise; guarded by socket.mu

	uses   int // goroutines and routes; guarded by socket.mu
	id     string
	kind   ast.Operation
	cancel context.CancelFunc
}

func newOperation(s *socket, id string) *operation {
	quoted, _ := json.Marshal(id) // a string always has a JSON form
	return &operation{socket: s, id: id, wireID: quoted}
}

// run executes the operation and sends the response. It returns when the operation is
// over or, in the case of a subscription, when it has begun.
func (s *socket) run(ctx context.Context, op *operation, opCtx *graphql.OperationContext) {
	defer s.stopped(op)
	if op.kind != ast.Subscription {
		request := auth.RequestOf(ctx)
		request.UserAgent = s.agent.Value()
		s.finish(op, s.engine.single(auth.WithRequest(ctx, request), opCtx))
		return
	}
	source, failure := s.engine.subscribe(ctx, opCtx)
	if failure != nil {
		s.finish(op, failure)
		return
	}
	s.begin(ctx, op, opCtx, source)
}

// begin makes the operation a member of its class. From then on it has no goroutine.
func (s *socket) begin(ctx context.Context, op *operation, opCtx *graphql.OperationContext, source retwis.EventSource) {
	s.use(op)
	op.enter(s.sockets.classes.join(opCtx, s.who.User), op)
	if err := source(ctx, "", op); err != nil {
		op.class.leave()
		s.end(ctx, op, opCtx, err)
		s.stopped(op)
	}
}

// end finishes a stream that its source ended, for a reason or without one.
func (s *socket) end(ctx context.Context, op *operation, opCtx *graphql.OperationContext, reason error) {
	switch {
	case isTooSlow(reason):
		s.conn.close(closeTryLater, "the reader is too slow: resume with the last cursor")
	case reason != nil:
		s.finish(op, s.engine.ended(ctx, opCtx, reason))
	default:
		s.finish(op, nil)
	}
}

// emit implements [recipient].
func (o *operation) emit(shared *rendered, cursor retwis.Cursor, more bool) {
	o.socket.deliver(o, frame{kind: websocket.TextMessage, data: o.wireID, shared: shared, cursor: cursor}, more)
}

// waitForRoom implements [recipient].
func (o *operation) waitForRoom(ctx context.Context) { o.socket.conn.waitForRoom(ctx) }

// failed implements [recipient]. The client comes back, and resumes by cursor.
func (o *operation) failed(error) { o.socket.conn.close(closeTryLater, "try again later") }

// over implements [recipient].
func (o *operation) over(reason error) {
	o.socket.conn.flush()
	o.socket.end(o.socket.ctx, o, o.class.op, reason)
	o.socket.stopped(o)
}

// isTooSlow reports whether a stream ended because its reader fell behind. Errors of
// this kind compare by code, and this code has other uses.
func isTooSlow(reason error) bool {
	e, ok := errors.AsType[*retwis.Error](reason)
	return ok && e == retwis.ErrSlowConsumer
}

// finish sends the last response of an operation, if there is one, and what the
// protocol wants after it; then the id is free. It sends nothing once the client has
// completed the operation itself.
func (s *socket) finish(op *operation, last *graphql.Response) {
	var messages [][]byte
	switch {
	case last == nil:
		messages = [][]byte{completeMessage(op.wireID)}
	case isExecuted(last):
		text, err := nextMessage(op.wireID, last)
		if err != nil {
			messages = [][]byte{s.failure(op, gqlerror.List{s.engine.internal(s.ctx, "encode a response", err)})}
			break
		}
		messages = [][]byte{text, completeMessage(op.wireID)}
	default:
		messages = [][]byte{s.failure(op, last.Errors)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.entered {
		for _, m := range messages {
			s.conn.send(m)
		}
	}
	s.removeLocked(op)
}

func (s *socket) failure(op *operation, errs gqlerror.List) []byte {
	text, err := errorMessage(op.wireID, errs)
	if err != nil {
		text, _ = errorMessage(op.wireID, gqlerror.List{s.engine.internal(s.ctx, "encode errors", err)})
	}
	return text
}

// deliver sends one event of a subscription, unless the client has completed it.
func (s *socket) deliver(op *operation, f frame, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.entered {
		s.conn.enqueue(f, more)
	}
}
