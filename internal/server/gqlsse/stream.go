package gqlsse

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/cost"
	"retwis/internal/fair"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/broadcast"
	"retwis/internal/server/clients"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
)

// stream is one event stream. Its events are queued by any goroutine, and written by the
// goroutine that serves the request.
type stream struct {
	broadcast.Member // of a render group, if the operation is a subscription
	clients.Visitor
	handler *Handler
	w       http.ResponseWriter
	control *http.ResponseController
	ctx     context.Context // of the request, then of the subscription
	cancel  context.CancelFunc
	stop    context.CancelFunc // ends the subscription, but not the stream
	ended   chan struct{}      // closed when the subscription emits nothing any more
	wake    chan struct{}      // has an element when there may be something to write

	mu      sync.Mutex
	queue   []event
	queued  int                          // bytes in it
	account *fair.Account[ratelimit.Key] // counts queued, and what is being written; nil before the client is known
	inWrite int
	closed  bool // nothing may be queued any more
	pingAt  time.Time
	room    chan struct{} // closed when the queue is half empty again; nil when nobody waits
}

func newStream(ctx context.Context, h *Handler, w http.ResponseWriter, cancel context.CancelFunc) *stream {
	return &stream{
		Visitor: clients.Visitor{Address: clients.ClientOf(ctx).Address},
		handler: h,
		ctx:     ctx,
		w:       w,
		control: http.NewResponseController(w),
		cancel:  cancel,
		ended:   make(chan struct{}),
		wake:    make(chan struct{}, 1),
		pingAt:  time.Now().Add(h.PingEvery),
	}
}

// subscribe starts the subscription. It returns when it has started or failed.
func (s *stream) subscribe(ctx context.Context, op *graphql.OperationContext, after retwis.Cursor) {
	s.ctx = ctx
	ctx, s.stop = context.WithCancel(ctx)
	source, failure := s.handler.Runner.Subscribe(ctx, op)
	if failure != nil {
		s.last(failure)
		close(s.ended)
		return
	}
	if err := s.handler.Groups.Join(&s.Member, op, clients.ClientOf(ctx), s); err != nil {
		operation.Refuse(source, err)
		s.last(s.handler.Runner.Failed(ctx, op, err))
		close(s.ended)
		return
	}
	if err := source(ctx, after, s); err != nil {
		s.Withdraw()
		s.Ended(err)
	}
}

// Emit implements [broadcast.Recipient].
func (s *stream) Emit(rendered *broadcast.Rendered, cursor retwis.Cursor, _ bool) {
	s.push(event{shared: rendered, cursor: cursor})
}

// Stop implements [broadcast.Recipient].
func (s *stream) Stop() { s.stop() }

// Failed implements [broadcast.Recipient]. The client reconnects and resumes by cursor.
func (s *stream) Failed(error) { s.close() }

// Ended implements [broadcast.Recipient]. Without "complete", the client of a slow consumer
// reconnects.
func (s *stream) Ended(reason error) {
	switch {
	case retwis.IsSlowConsumer(reason):
		s.close()
	case reason != nil:
		s.last(s.handler.Runner.Failed(s.ctx, s.Operation(), reason))
	default:
		s.push(event{text: []byte(completeEvent)})
		s.close()
	}
	close(s.ended)
}

// last queues the last response and the end of the stream.
func (s *stream) last(r *graphql.Response) {
	s.push(s.nextEvent(r))
	s.push(event{text: []byte(completeEvent)})
	s.close()
}

// replaceAll makes a response the whole stream, even if the stream was closed meanwhile: the
// client of a mutation needs the response, above all that of the one that ended the session.
func (s *stream) replaceAll(r *graphql.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = []event{s.nextEvent(r), {text: []byte(completeEvent)}}
	s.closed = true
	if !s.countLocked(s.queue[0].cost()) {
		s.queue[0] = s.nextEvent(operation.RateLimited(1, "too many responses wait to be read: read them first"))
	}
}

func (s *stream) nextEvent(r *graphql.Response) event {
	b, err := operation.AppendResponse([]byte("event: next\ndata: "), r)
	if err != nil {
		failure := s.handler.Runner.Failure(s.ctx, "encode a response", err)
		b, _ = operation.AppendResponse([]byte("event: next\ndata: "), &graphql.Response{Errors: gqlerror.List{failure}})
	}
	return event{text: append(b, "\n\n"...)}
}

// push queues an event. A reader that leaves too much unread is disconnected. One response
// that exceeds the limit alone is not the reader's fault.
func (s *stream) push(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.queued > 0 && s.queued+e.cost() > s.handler.QueueBytes || !s.countLocked(s.queued+s.inWrite+e.cost()) {
		s.queue, s.queued, s.closed = nil, 0, true
		s.handler.SlowConsumers.Add(1)
		s.cancel()
		return
	}
	s.queue = append(s.queue, e)
	s.queued += e.cost()
	s.wakeLocked()
}

func (s *stream) setAccount(account *fair.Account[ratelimit.Key]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account = account
}

// countLocked tells the account how many bytes wait. It reports false if they are too many.
func (s *stream) countLocked(bytes int) bool { return s.account == nil || s.account.Set(bytes) }

// drop drops what waits, because the stream is over.
func (s *stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue, s.queued, s.inWrite, s.closed = nil, 0, 0, true
	s.countLocked(0)
}

// close ends the stream when the queue is written.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wakeLocked()
}

func (s *stream) wakeLocked() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// QueuedBytes implements [clients.Client].
func (s *stream) QueuedBytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued + s.inWrite
}

// Mute implements [clients.Client].
func (s *stream) Mute(clients.LeaveReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Leave implements [clients.Client].
func (s *stream) Leave(clients.LeaveReason) { s.close() }

// Abort implements [clients.Client].
func (s *stream) Abort() { s.cancel() }

// Tick implements [clients.Client]. A write finds out whether the reader is gone.
func (s *stream) Tick(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !now.Before(s.pingAt) && len(s.queue) == 0 {
		s.pingAt = now.Add(s.handler.PingEvery)
		s.queue = append(s.queue, event{text: []byte(keepAlive)})
		s.queued += s.queue[0].cost()
		s.wakeLocked()
	}
	return true
}

// Price implements [broadcast.Recipient].
func (s *stream) Price(bytes int, _ bool) int { return cost.Streamed(bytes) }

// Room implements [broadcast.Recipient].
func (s *stream) Room() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.queued <= s.handler.QueueBytes/2 {
		return nil
	}
	if s.room == nil {
		s.room = make(chan struct{})
	}
	return s.room
}

// write writes events until the stream is closed, its reader is gone, or ctx is done.
func (s *stream) write(ctx context.Context) {
	h := s.w.Header()
	h.Set("Content-Type", httpapi.MediaEvents+"; charset=utf-8")
	h.Set("X-Accel-Buffering", "no") // nginx would delay events
	_ = s.control.SetReadDeadline(time.Time{})
	s.w.WriteHeader(http.StatusOK)
	for s.writeInTurn(ctx) {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// writeInTurn does writeQueue when the share of the client lets it, or nothing if ctx is done.
func (s *stream) writeInTurn(ctx context.Context) (more bool) {
	turn, err := s.handler.Shares.Write(ctx, clients.ClientOf(ctx))
	if err != nil {
		return false
	}
	defer turn.End()
	return s.writeQueue()
}

// writeQueue writes what is queued. It reports whether more may follow.
func (s *stream) writeQueue() (more bool) {
	buffer := s.handler.buffers.Get() // between two events, a stream keeps none
	defer s.handler.buffers.Put(buffer)
	more = s.take(buffer)
	defer s.written()
	_ = s.control.SetWriteDeadline(time.Now().Add(s.handler.WriteWait))
	if _, err := s.w.Write(*buffer); err != nil {
		return false
	}
	return more && s.control.Flush() == nil
}

// take moves the queue to the buffer. It reports whether more may follow.
func (s *stream) take(buffer *[]byte) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*buffer = (*buffer)[:0]
	for _, e := range s.queue {
		*buffer = e.appendTo(*buffer)
	}
	s.queue, s.queued, s.inWrite = nil, 0, len(*buffer)
	s.countLocked(s.inWrite)
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
	return !s.closed
}

// written notes that the buffer was written.
func (s *stream) written() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inWrite = 0
	s.countLocked(s.queued)
}
