package server

import (
	"context"
	"errors"
	"sync"
	"time"
	"unique"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// lastReply is how long the end of a socket waits for mutations under way: their client
// is owed the answer, the more so when it is the logout that ended the session.
const lastReply = time.Second

// socket is one client's conversation: who it is, and which operations are under way.
// Messages come one at a time, from the goroutine that reads the connection.
type socket struct {
	mu      sync.Mutex // first, beside conn: each event needs the two
	conn    *conn
	ctx     context.Context // of everything that runs for the socket; ends when it starts to close
	engine  engine
	sockets *sockets
	shown   credentials           // with the upgrade
	agent   unique.Handle[string] // what the client says that it is; many say the same
	init    *time.Timer

	// Of the reading goroutine.
	share ratelimit.Key // for whom the socket counts

	// Written by the reading goroutine, before the socket is in the index.
	initialised bool // connection_init has come
	ready       bool // and has been acknowledged
	visitor

	// Guarded by mu.
	leaving    *farewell // set: a mutation may still have its last word, nothing else
	operations map[string]*operation
	counts     map[ast.Operation]int // of operations
	running    int                   // operations, with completed ones that have not stopped yet
}

// farewell is what a socket is closed with.
type farewell struct {
	code   int
	reason string
}

func (s *socket) abort() { s.conn.abort() }

func (s *socket) tick(now time.Time) bool { return s.conn.tick(now) }

func (s *socket) queuedBytes() int { return s.conn.queuedBytes() }

// handle answers one message.
func (s *socket) handle(text []byte) {
	defer func() {
		if r := recover(); r != nil {
			s.engine.panicked(s.ctx, "handle a message", r)
			s.conn.close(websocket.CloseInternalServerErr, "internal error")
		}
	}()
	m, err := parseMessage(text)
	if err != nil {
		s.conn.close(closeInvalid, "Invalid message: "+err.Error())
		return
	}
	switch m.Type {
	case "connection_init":
		s.initialise(m)
	case "ping":
		s.conn.send(pongMessage(m.Payload))
	case "subscribe":
		s.subscribe(m)
	case "complete":
		s.complete(*m.ID)
	}
}

// initialise finds out who the client is. Everything after it waits: nothing may be
// asked before the answer.
func (s *socket) initialise(m message) {
	if s.initialised {
		s.conn.close(closeSecondInit, "Too many initialisation requests")
		return
	}
	s.initialised = true
	s.init.Stop()

	shown := s.shown
	s.shown = credentials{}
	if value, ok := authorizationOf(m.Payload); ok {
		token, bearer := bearerToken(value)
		if !bearer {
			s.conn.close(closeForbidden, "Forbidden")
			return
		}
		shown = credentials{token: token, bearer: true}
	}
	_, err := s.sockets.admit(s.ctx, s, shown)
	switch {
	case errors.Is(err, retwis.ErrUnauthenticated):
		s.conn.close(closeForbidden, "Forbidden")
	case err != nil:
		if s.ctx.Err() == nil {
			s.engine.log.ErrorContext(s.ctx, "authenticate a websocket", "err", err)
		}
		s.conn.close(closeTryLater, "try again later")
	default:
		s.ctx = auth.WithIdentity(s.ctx, s.who)
		if !s.changeShare(holderOf(s.ctx)) {
			s.conn.close(closeTryLater, "this user has too many connections")
			return
		}
		s.ready = true
		s.conn.send(ackMessage())
	}
}

// changeShare has the socket count for who has turned out to be its user, if that one may
// have one more.
func (s *socket) changeShare(of ratelimit.Key) bool {
	if of == s.share {
		return true
	}
	if !s.sockets.shares.take(of) {
		return false
	}
	s.sockets.shares.giveBack(s.share)
	s.share = of
	return true
}

// subscribe starts an operation.
func (s *socket) subscribe(m message) {
	if !s.ready {
		s.conn.close(closeNotReady, "Unauthorized")
		return
	}
	params, err := decodeParams(m.Payload)
	if err != nil {
		s.conn.close(closeInvalid, "Invalid message: "+err.Error())
		return
	}
	op := newOperation(s, *m.ID)
	s.mu.Lock()
	_, taken := s.operations[op.id]
	leaving := s.leaving != nil
	s.mu.Unlock()
	switch {
	case taken:
		s.conn.close(closeDuplicate, "Subscriber for "+op.id+" already exists")
		return
	case leaving:
		return
	}

	ctx, cancel := context.WithCancel(s.ctx)
	op.cancel = cancel
	opCtx, failure := s.engine.prepare(ctx, params)
	entered := false
	if failure == nil {
		op.kind = opCtx.Operation.Operation
		entered, failure = s.add(op)
	}
	if entered {
		go s.run(ctx, op, opCtx)
		return
	}
	cancel()
	if failure != nil {
		s.conn.send(s.failure(op, failure.Errors))
	}
}

// add enters the operation, or says which limit forbids it. On a socket that was told to
// leave meanwhile it does neither.
func (s *socket) add(op *operation) (entered bool, failure *graphql.Response) {
	limit, what := maxSingle, "operations"
	if op.kind == ast.Subscription {
		limit, what = s.sockets.opts.SubscriptionsPerSocket, "subscriptions"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.leaving != nil:
		return false, nil
	// Completed operations take a moment to stop. A client that piles them up has to wait.
	case s.counts[op.kind] >= limit, s.running >= 2*(s.sockets.opts.SubscriptionsPerSocket+maxSingle):
		return false, tooMany("this connection has too many %s under way", what)
	case op.kind == ast.Subscription && !s.sockets.subscriptions.take(holderOf(s.ctx)):
		return false, tooManySubscriptions(s.who.User)
	}
	s.operations[op.id] = op
	op.entered = true
	s.counts[op.kind]++
	op.uses = 1
	s.running++
	s.sockets.wire.tasks.Add(1)
	return true, nil
}

// tooManyRetryAfter is how many seconds those wait who have too much open: until they close
// some of it, or others do.
const tooManyRetryAfter = 30

func tooMany(format string, args ...any) *graphql.Response {
	err := errorOf(retwis.CodeRateLimited, format, args...)
	err.Extensions["retryAfter"] = tooManyRetryAfter
	return &graphql.Response{Errors: gqlerror.List{err}}
}

func tooManySubscriptions(user retwis.UserID) *graphql.Response {
	if user == 0 {
		return tooMany("too many subscriptions come from here: log in to have your own")
	}
	return tooMany("this user has too many subscriptions")
}

// complete stops an operation because the client asks for it. One that is over
// already, or never was, is no error: the messages may have crossed.
func (s *socket) complete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op := s.operations[id]; op != nil {
		s.removeLocked(op)
		op.cancel()
	}
}

// removeLocked frees the operation's id and its place in the limits.
func (s *socket) removeLocked(op *operation) {
	if !op.entered {
		return
	}
	op.entered = false
	delete(s.operations, op.id)
	s.counts[op.kind]--
	if op.kind == ast.Subscription {
		s.sockets.subscriptions.giveBack(holderOf(s.ctx))
	}
	if s.leaving != nil && s.counts[ast.Mutation] == 0 {
		s.conn.close(s.leaving.code, s.leaving.reason)
	}
}

// use keeps the operation from having stopped until stopped is called once more.
func (s *socket) use(op *operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op.uses++
}

// stopped notes that the operation's goroutine ends, or its route. With the last of them
// nothing goes on for it any more.
func (s *socket) stopped(op *operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.uses--; op.uses > 0 {
		return
	}
	op.cancel()
	s.removeLocked(op)
	s.running--
	s.sockets.wire.tasks.Done()
}

// leave stops everything at once and closes the socket. Only mutations under way may
// answer first.
func (s *socket) leave(code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving != nil {
		return
	}
	s.leaving = &farewell{code, reason}
	for _, op := range s.operations {
		if op.kind != ast.Mutation {
			s.removeLocked(op)
			op.cancel()
		}
	}
	if s.counts[ast.Mutation] == 0 {
		s.conn.close(code, reason)
		return
	}
	time.AfterFunc(lastReply, func() { s.conn.close(code, reason) })
}
