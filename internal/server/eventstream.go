package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// eventStream is one stream of server-sent events. Events are queued by whoever has them
// and written by the goroutine that serves the request.
type eventStream struct {
	member // of a class
	visitor
	engine  engine
	sockets *sockets
	w       http.ResponseWriter
	control *http.ResponseController
	ctx     context.Context // of the subscription
	cancel  context.CancelFunc
	ended   chan struct{} // closed when nothing is emitted any more
	wake    chan struct{} // has an element when there may be something to write

	mu     sync.Mutex
	queue  []sentEvent
	queued int  // bytes in it
	closed bool // nothing may be queued any more
	pingAt time.Time
	room   chan struct{} // closed when the queue is half empty again; nil when nobody waits
}

// sentEvent is one that a client is sent: shared with others, or whole.
type sentEvent struct {
	shared *rendered
	cursor retwis.Cursor
	text   []byte
}

func (e sentEvent) cost() int {
	if e.shared != nil {
		return e.shared.length(e.cursor) + frameOverhead
	}
	return len(e.text) + frameOverhead
}

// appendTo appends the event as text. JSON has no line ends, so the data is one line.
func (e sentEvent) appendTo(b []byte) []byte {
	if e.shared == nil {
		return append(b, e.text...)
	}
	b = append(b, "event: next\nid: "...)
	b = append(b, e.cursor...)
	b = append(b, "\ndata: "...)
	b = e.shared.appendTo(b, e.cursor)
	return append(b, "\n\n"...)
}

const (
	completeEvent = "event: complete\ndata:\n\n"
	keepAlive     = ":\n\n" // a comment, so that nobody between takes the connection for dead
)

func newEventStream(s *Server, w http.ResponseWriter, cancel context.CancelFunc) *eventStream {
	return &eventStream{
		engine:  s.engine,
		sockets: s.sockets,
		w:       w,
		control: http.NewResponseController(w),
		cancel:  cancel,
		ended:   make(chan struct{}),
		wake:    make(chan struct{}, 1),
		pingAt:  time.Now().Add(s.opts.PingEvery),
	}
}

// subscribe begins the subscription. It returns when it has begun or failed.
func (s *eventStream) subscribe(ctx context.Context, op *graphql.OperationContext, after retwis.Cursor) {
	s.ctx = ctx
	source, failure := s.engine.subscribe(ctx, op)
	if failure != nil {
		s.last(failure)
		close(s.ended)
		return
	}
	s.enter(s.sockets.classes.join(op, s.who.User), s)
	if err := source(ctx, after, s); err != nil {
		s.class.leave()
		s.over(err)
	}
}

// emit implements [recipient].
func (s *eventStream) emit(shared *rendered, cursor retwis.Cursor, _ bool) {
	s.push(sentEvent{shared: shared, cursor: cursor})
}

// failed implements [recipient]. The client comes back, and resumes by cursor.
func (s *eventStream) failed(error) { s.close() }

// over implements [recipient].
func (s *eventStream) over(reason error) { s.finish(reason, s.class.op) }

// finish ends the stream of a subscription that has ended. Without "complete", a client
// that was too slow comes back.
func (s *eventStream) finish(reason error, op *graphql.OperationContext) {
	switch {
	case isTooSlow(reason):
		s.close()
	case reason != nil:
		s.last(s.engine.ended(s.ctx, op, reason))
	default:
		s.push(sentEvent{text: []byte(completeEvent)})
		s.close()
	}
	close(s.ended)
}

// last queues the last response, and what follows it.
func (s *eventStream) last(r *graphql.Response) {
	s.push(s.nextEvent(r))
	s.push(sentEvent{text: []byte(completeEvent)})
	s.close()
}

// only makes a response all there is, also where the stream was closed meanwhile: the
// client of a mutation is owed the answer, the more so when it is the one that ended the
// session.
func (s *eventStream) only(r *graphql.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = []sentEvent{s.nextEvent(r), {text: []byte(completeEvent)}}
	s.closed = true
}

func (s *eventStream) nextEvent(r *graphql.Response) sentEvent {
	b, err := appendResponse([]byte("event: next\ndata: "), r)
	if err != nil {
		failure := s.engine.internal(s.sockets.ctx, "encode a response", err)
		b, _ = appendResponse([]byte("event: next\ndata: "), &graphql.Response{Errors: gqlerror.List{failure}})
	}
	return sentEvent{text: append(b, "\n\n"...)}
}

// push queues an event. A reader that leaves too much unread is cut off; one response
// that alone is too much is not the reader's fault.
func (s *eventStream) push(e sentEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.queued > 0 && s.queued+e.cost() > s.sockets.wire.queueBytes {
		s.queue, s.closed = nil, true
		s.sockets.wire.cutOffs.Add(1)
		s.cancel()
		return
	}
	s.queue = append(s.queue, e)
	s.queued += e.cost()
	s.wakeLocked()
}

// close ends the stream when what is queued is written.
func (s *eventStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wakeLocked()
}

func (s *eventStream) wakeLocked() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// queuedBytes implements [client].
func (s *eventStream) queuedBytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued
}

// leave implements [client].
func (s *eventStream) leave(int, string) { s.close() }

func (s *eventStream) abort() { s.cancel() }

func (s *eventStream) tick(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !now.Before(s.pingAt) && len(s.queue) == 0 {
		s.pingAt = now.Add(s.sockets.wire.pingEvery)
		s.queue = append(s.queue, sentEvent{text: []byte(keepAlive)})
		s.queued += s.queue[0].cost()
		s.wakeLocked()
	}
	return true // who is gone is found out by writing
}

// waitForRoom implements [recipient].
func (s *eventStream) waitForRoom(ctx context.Context) {
	s.mu.Lock()
	if s.closed || s.queued <= s.sockets.wire.queueBytes/2 {
		s.mu.Unlock()
		return
	}
	if s.room == nil {
		s.room = make(chan struct{})
	}
	room := s.room
	s.mu.Unlock()
	select {
	case <-room:
	case <-ctx.Done():
	}
}

// write writes events until the stream is closed, its reader is gone, or ctx is done.
func (s *eventStream) write(ctx context.Context) {
	h := s.w.Header()
	h.Set("Content-Type", mediaEvents+"; charset=utf-8")
	h.Set("X-Accel-Buffering", "no") // a proxy would hold events back
	_ = s.control.SetReadDeadline(time.Time{})
	s.w.WriteHeader(http.StatusOK)
	buffer := s.sockets.wire.buffers.get()
	defer s.sockets.wire.buffers.put(buffer)
	for {
		more := s.take(buffer)
		_ = s.control.SetWriteDeadline(time.Now().Add(s.sockets.wire.writeWait))
		if _, err := s.w.Write(*buffer); err != nil {
			return
		}
		if !more {
			return
		}
		if err := s.control.Flush(); err != nil {
			return
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// take fills the buffer with what is queued, and reports whether more may come.
func (s *eventStream) take(buffer *[]byte) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*buffer = (*buffer)[:0]
	for _, e := range s.queue {
		*buffer = e.appendTo(*buffer)
	}
	s.queue, s.queued = nil, 0
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
	return !s.closed
}
