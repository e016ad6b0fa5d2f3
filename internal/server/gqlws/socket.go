package gqlws

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
	"unique"

	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/fair"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/clients"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
	"retwis/internal/server/wsconn"
)

// mutationGrace is how long the end of a socket waits for running mutations. Their client
// needs the response, above all that of the logout that ended the session.
const mutationGrace = time.Second

// socket is the state of one client's websocket: who it is, and which operations run.
// Messages arrive one at a time, on the goroutine that reads the connection.
type socket struct {
	mu          sync.Mutex // first, beside conn: each event needs the two
	conn        *wsconn.Conn
	ctx         context.Context // of everything that runs for the socket; ends when it starts to close. Written with mu by the reading goroutine
	handler     *Handler
	credentials clients.Credentials   // of the upgrade
	userAgent   unique.Handle[string] // one copy for many clients
	initTimer   *time.Timer

	// Of the reading goroutine.
	key      ratelimit.Key                // under which the socket counts
	account  *fair.Account[ratelimit.Key] // of the bytes that wait for the client
	arrivals *fair.Account[ratelimit.Key] // of the message that is arriving

	// Written by the reading goroutine, before the registry knows the user of the socket.
	initialised bool // connection_init has arrived
	ready       bool // and was acknowledged
	clients.Visitor

	// Guarded by mu.
	closing    *closing      // set: a running mutation may still respond, nothing else
	operations []*subscriber // few: most sockets have one
	ending     []*subscriber // those that closing has removed, and that are not cancelled yet
	running    int           // operations, with completed ones that have not stopped yet
}

// closing is the close frame of a socket.
type closing struct {
	code   int
	reason string
}

// serve is the goroutine of a socket. It spends most of its time here. With a larger frame
// its stack would be of the next size, which is twice the memory of an idle socket.
func (s *socket) serve() {
	s.conn.Receive(s.handle)
	s.end()
}

// end cleans up after a closed socket. Its frame must not be part of that of serve.
//
//go:noinline
func (s *socket) end() {
	if s.conn.Refused() {
		s.handler.Runner.Refused(s.ctx, 0)
	}
	s.release()
	s.handler.Registry.Remove(s)
	s.handler.Conns.Tasks.Done()
}

// Abort implements [clients.Client].
func (s *socket) Abort() { s.conn.Abort() }

// Tick implements [clients.Client].
func (s *socket) Tick(now time.Time) bool { return s.conn.Tick(now) }

// QueuedBytes implements [clients.Client].
func (s *socket) QueuedBytes() int { return s.conn.QueuedBytes() }

// Mute implements [clients.Client]. It wakes no goroutine.
func (s *socket) Mute(reason clients.LeaveReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muteLocked(reason)
}

func (s *socket) muteLocked(reason clients.LeaveReason) {
	if s.closing != nil {
		return
	}
	s.closing = &closing{closeRestart, "Service restart"}
	if reason == clients.SessionEnded {
		s.closing = &closing{closeForbidden, "The session has ended"}
	}
	s.operations = slices.DeleteFunc(s.operations, func(op *subscriber) bool {
		if op.kind == ast.Mutation {
			return false
		}
		op.active = false
		s.ending = append(s.ending, op)
		return true
	})
}

// Leave implements [clients.Client]. It cancels all operations and closes the socket. Only running mutations may respond first.
func (s *socket) Leave(reason clients.LeaveReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muteLocked(reason)
	for _, op := range s.ending {
		op.cancel()
	}
	s.ending = nil
	closing := s.closing
	if s.countLocked(ast.Mutation) == 0 {
		s.conn.Close(closing.code, closing.reason)
		return
	}
	time.AfterFunc(mutationGrace, func() { s.conn.Close(closing.code, closing.reason) })
}

// payCompressed charges the client for compressed bytes. It reports false if the client has no budget left.
func (s *socket) payCompressed(bytes int) bool {
	return s.handler.Runner.Admit(s.ctx, bytes, 0, cost.Inflated(bytes)) == nil
}

// PayFor implements [wsconn.Payer].
func (s *socket) PayFor(bytes int) { s.handler.Runner.Executor.Spend(s.ctx, cost.Message(bytes)) }

// Affords implements [wsconn.Payer].
func (s *socket) Affords() bool { return s.handler.Runner.Executor.Afford(s.ctx) }

// context returns the context of the socket, also to the goroutine that writes.
func (s *socket) context() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx
}

// Turn implements [wsconn.Turns].
func (s *socket) Turn() (done func()) {
	ctx := s.context()
	return s.handler.Shares.Decode(ctx, clients.ClientOf(ctx)).End
}

// TurnFor implements [wsconn.Turns].
func (s *socket) TurnFor(bytes int) (done func()) {
	ctx := s.context()
	return s.handler.Shares.DecodeLong(ctx, clients.ClientOf(ctx), bytes).End
}

// Compress implements [wsconn.Turns].
func (s *socket) Compress() (done func(), err error) {
	ctx := s.context()
	return s.handler.Shares.Compress(ctx, clients.ClientOf(ctx))
}

// handle processes one message.
func (s *socket) handle(text []byte) {
	defer func() {
		if r := recover(); r != nil {
			s.handler.Runner.Panicked(s.ctx, "handle a message", r)
			s.conn.Close(closeInternal, "internal error")
		}
	}()
	if s.handler.Runner.Admit(s.ctx, len(text), operation.LargeRequest, cost.Received(s.conn.Arrived(text))) != nil {
		s.conn.Close(closeTryLater, "the rate limit is used up")
		return
	}
	m, err := parseMessage(text)
	if err != nil {
		s.handler.Runner.Refused(s.ctx, len(text))
		s.conn.Close(CloseInvalid, "Invalid message: "+err.Error())
		return
	}
	switch m.Type {
	case "connection_init":
		s.initialise(m)
	case "ping", "pong":
		if !s.conn.Pinged() {
			return
		}
		s.PayFor(len(text))
		if m.Type == "ping" {
			s.conn.Send(pongMessage(m.Payload))
		}
	case "subscribe":
		s.subscribe(m)
	case "complete":
		s.complete(*m.ID)
		s.payForNothing(len(text))
	}
}

// payForNothing charges the client for a message that starts nothing. Without budget, it counts like a ping.
func (s *socket) payForNothing(bytes int) {
	if s.Affords() {
		s.PayFor(bytes)
	} else {
		s.conn.Pinged()
	}
}

// initialise authenticates the client. Later messages wait: no operation may start before.
func (s *socket) initialise(m message) {
	if s.initialised {
		s.conn.Refuse(closeSecondInit, "Too many initialisation requests")
		return
	}
	s.initialised = true
	s.initTimer.Stop()

	credentials := s.credentials
	s.credentials = clients.Credentials{}
	if value, ok := authorizationOf(m.Payload); ok {
		token, bearer := httpapi.BearerToken(value)
		if !bearer {
			s.conn.Close(closeForbidden, "Forbidden")
			return
		}
		credentials = clients.Credentials{Token: token, Bearer: true}
	}
	_, err := s.handler.Registry.Admit(s.ctx, s, credentials)
	switch {
	case errors.Is(err, retwis.ErrUnauthenticated):
		s.handler.Runner.Refused(s.ctx, len(m.Payload))
		s.conn.Close(closeForbidden, "Forbidden")
	case err != nil:
		if s.ctx.Err() == nil {
			_ = s.handler.Runner.Failure(s.ctx, "authenticate a websocket", err) // logs it; the close code is all the client gets
		}
		s.conn.Close(closeTryLater, "try again later")
	default:
		s.mu.Lock()
		s.ctx = auth.WithIdentity(s.ctx, s.Identity)
		s.mu.Unlock()
		auth.RequestOf(s.ctx).Identify(s.Identity.User)
		if !s.changeKey(clients.KeyOf(s.ctx)) {
			s.conn.Close(closeTryLater, "this user has too many connections")
			return
		}
		s.handler.Runner.Pay(s.ctx, cost.PerRequest)
		s.ready = true
		s.conn.Send(ackMessage())
	}
}

// release stops counting the socket.
func (s *socket) release() {
	network := s.network()
	s.handler.Sockets.Release(network)
	if s.key != network {
		s.handler.Sockets.Release(s.key)
	}
}

// network returns the key of the client's network. Every socket counts under it, also that of a user: a few users of one network
// could otherwise open sockets until no file descriptors are left.
func (s *socket) network() ratelimit.Key {
	return clients.ClientOf(s.ctx).NetworkKey()
}

// changeKey counts the socket also under the key of its user from now on. It reports false if
// the user has too many sockets.
func (s *socket) changeKey(key ratelimit.Key) bool {
	if key == s.key {
		return true
	}
	if !s.handler.Sockets.Acquire(key) {
		return false
	}
	if s.key != s.network() {
		s.handler.Sockets.Release(s.key)
	}
	s.account.ChangeHolder(key)
	s.arrivals.ChangeHolder(key)
	s.conn.ReadInLine(s.handler.Sockets.Line(key))
	s.key = key
	return true
}
