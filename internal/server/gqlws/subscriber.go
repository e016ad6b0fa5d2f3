package gqlws

import (
	"context"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server/broadcast"
	"retwis/internal/server/operation"
	"retwis/internal/server/wsconn"
)

// subscriber is a running operation of a socket. The protocol calls queries and mutations
// subscribers, too.
type subscriber struct {
	broadcast.Member // of a render group, if the operation is a subscription
	socket           *socket
	tail             []byte // the end of each message: the id and the closing brace
	active           bool   // it owns its id, and may send; guarded by socket.mu

	uses   int // goroutines and event sources; guarded by socket.mu
	id     string
	kind   ast.Operation
	cancel context.CancelFunc
}

func newSubscriber(s *socket, id string) *subscriber {
	quoted, _ := json.Marshal(id) // a string always has a JSON encoding
	tail := append([]byte(`,"id":`), quoted...)
	return &subscriber{socket: s, id: id, tail: append(tail, '}')}
}

// Emit implements [broadcast.Recipient]. The event is dropped if the client has completed
// the operation.
func (o *subscriber) Emit(event *broadcast.Rendered, cursor retwis.Cursor, more bool) {
	o.socket.mu.Lock()
	defer o.socket.mu.Unlock()
	if o.active {
		o.socket.conn.Enqueue(wsconn.Frame{
			Kind: websocket.TextMessage, Head: nextHead, Body: event, Insert: string(cursor), Data: o.tail,
		}, more)
	}
}

// Price implements [broadcast.Recipient].
func (o *subscriber) Price(bytes int, more bool) int {
	if o.socket.conn.Compresses() {
		return cost.Compressed(bytes)
	}
	if more {
		return bytes
	}
	return cost.Written(bytes)
}

// Room implements [broadcast.Recipient].
func (o *subscriber) Room() <-chan struct{} { return o.socket.conn.Room() }

// Stop implements [broadcast.Recipient].
func (o *subscriber) Stop() { o.cancel() }

// Failed implements [broadcast.Recipient]. The client reconnects and resumes by cursor.
func (o *subscriber) Failed(error) { o.socket.conn.Close(closeTryLater, "try again later") }

// Ended implements [broadcast.Recipient].
func (o *subscriber) Ended(reason error) {
	o.socket.conn.Flush()
	o.socket.ended(o.socket.ctx, o, o.Operation(), reason)
	o.socket.stopped(o)
}

// withUserAgent returns a context in which a session may be opened.
func (s *socket) withUserAgent(ctx context.Context) context.Context {
	request := auth.RequestOf(ctx)
	request.UserAgent = s.userAgent.Value()
	return auth.WithRequest(ctx, request)
}

// ended finishes a subscription that its source ended, for a reason or without one.
func (s *socket) ended(ctx context.Context, op *subscriber, opCtx *graphql.OperationContext, reason error) {
	switch {
	case retwis.IsSlowConsumer(reason):
		s.conn.Close(closeTryLater, "slow consumer: resume after the last cursor")
	case reason != nil:
		s.finish(op, s.handler.Runner.Failed(ctx, opCtx, reason))
	default:
		s.finish(op, nil)
	}
}

// finish sends the last response of an operation, if there is one, and the message that
// ends the operation; then the id is free. It sends nothing if the client has completed the
// operation.
func (s *socket) finish(op *subscriber, last *graphql.Response) {
	var messages [][]byte
	switch {
	case last == nil:
		messages = [][]byte{completeMessage(op.tail)}
	case operation.Executed(last):
		text, err := nextMessage(op.tail, last)
		if err != nil {
			messages = [][]byte{s.failure(op, gqlerror.List{s.handler.Runner.Failure(s.ctx, "encode a response", err)})}
			break
		}
		messages = [][]byte{text, completeMessage(op.tail)}
	default:
		messages = [][]byte{s.failure(op, last.Errors)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.active {
		for _, m := range messages {
			s.conn.Send(m)
		}
	}
	s.removeLocked(op)
}

// failure returns the message of an operation that failed with errors.
func (s *socket) failure(op *subscriber, errs gqlerror.List) []byte {
	text, err := errorMessage(op.tail, errs)
	if err != nil {
		text, _ = errorMessage(op.tail, gqlerror.List{s.handler.Runner.Failure(s.ctx, "encode errors", err)})
	}
	return text
}
