package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// client is a connection that outlives the answer to a request: a websocket, or a stream
// of events.
type client interface {
	// leave ends it, politely.
	leave(code int, reason string)
	abort()
	// tick looks after it now and then. It reports false when the reader is gone.
	tick(now time.Time) bool
	self() *visitor
	// queuedBytes returns how much waits for the reader.
	queuedBytes() int
}

// visitor is who a client is. It is written before the client is in an index by user.
type visitor struct {
	who   auth.Identity
	token string
}

func (v *visitor) self() *visitor { return v }

// sockets is the index of all open clients.
type sockets struct {
	opts         Options
	engine       engine
	authenticate func(context.Context, credentials) (auth.Identity, bool, error)
	ctx          context.Context // of all sockets: they outlive the requests that opened them
	cancel       context.CancelFunc
	wire         *wire
	classes      *classes
	clock        clock
	checkAll     chan struct{} // holds one wish to check every session

	shares        *shares // of sockets
	subscriptions *shares

	mu         sync.Mutex
	draining   bool
	open       map[client]struct{}
	bySession  map[string]clientSet
	byUser     map[retwis.UserID]clientSet
	admissions map[*admission]struct{}
}

type clientSet map[client]struct{}

func newSockets(opts Options, e engine, authenticate func(context.Context, credentials) (auth.Identity, bool, error)) *sockets {
	ctx, cancel := context.WithCancel(context.Background())
	r := &sockets{
		opts:   opts,
		engine: e,
		wire: &wire{
			queueBytes: opts.QueueBytes,
			writeWait:  opts.WriteWait,
			pingEvery:  opts.PingEvery,
			pongWait:   opts.PongWait,
		},
		classes:       newClasses(ctx, e),
		authenticate:  authenticate,
		ctx:           ctx,
		cancel:        cancel,
		checkAll:      make(chan struct{}, 1),
		open:          map[client]struct{}{},
		bySession:     map[string]clientSet{},
		byUser:        map[retwis.UserID]clientSet{},
		shares:        newShares(opts.SocketsPerUser, opts.SocketsPerNetwork),
		subscriptions: newShares(opts.SubscriptionsPerUser, opts.SubscriptionsPerNetwork),
		admissions:    map[*admission]struct{}{},
	}
	r.clock = clock{every: tickOf(opts), tick: r.tick}
	return r
}

// start enters a socket, before its client is known, and reads its messages until the
// connection ends. It reports false when the server is stopping.
func (r *sockets) start(s *socket) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return false
	}
	r.enterLocked(s)
	r.wire.tasks.Add(1)
	go r.serve(s)
	return true
}

// enter enters a client that somebody else serves. It reports false when the server is
// stopping.
func (r *sockets) enter(c client) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return false
	}
	r.enterLocked(c)
	return true
}

func (r *sockets) enterLocked(c client) {
	r.open[c] = struct{}{}
	r.clock.start()
}

// serve is the goroutine of a socket. It waits in here nearly always, and with a frame
// or two more its stack would be of the next size: twice the memory of an idle socket.
func (r *sockets) serve(s *socket) {
	s.conn.receive(s.handle)
	r.end(s)
}

// end does what is left to do for a socket that is closed. Its frame is its own, for the
// sake of serve's.
//
//go:noinline
func (r *sockets) end(s *socket) {
	r.shares.giveBack(s.share)
	r.remove(s)
	r.wire.tasks.Done()
}

// remove forgets a client.
func (r *sockets) remove(c client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.open, c); len(r.open) == 0 {
		r.clock.stop()
	}
	who := c.self().who
	unindex(r.bySession, who.Session.Hash, c)
	unindex(r.byUser, who.User, c)
}

// admission collects the ends of sessions that are announced while a client's session
// is being read: the client is in no index yet where they would find it.
type admission struct {
	ended []retwis.SessionEnd
	again bool // others may have ended: only reading the session again can tell
}

const maxEnded = 64 // ends that one admission remembers

// admit authenticates a client and enters it in the indexes. It returns
// retwis.ErrUnauthenticated for a bad token, also if the session ends meanwhile, and
// reports a stale cookie, with which the client is nobody.
func (r *sockets) admit(ctx context.Context, c client, shown credentials) (stale bool, err error) {
	a := &admission{}
	r.mu.Lock()
	r.admissions[a] = struct{}{}
	r.mu.Unlock()

	who, stale, err := r.authenticate(ctx, shown)

	r.mu.Lock()
	delete(r.admissions, a)
	if err != nil || who.User == 0 {
		r.mu.Unlock()
		return stale, err
	}
	if slices.ContainsFunc(a.ended, who.EndedBy) {
		r.mu.Unlock()
		return false, retwis.ErrUnauthenticated
	}
	*c.self() = visitor{who, shown.token}
	index(r.bySession, who.Session.Hash, c)
	index(r.byUser, who.User, c)
	r.mu.Unlock()
	if a.again {
		_, err = r.identify(ctx, c)
	}
	return false, err
}

// identify reads the session of an admitted client again.
func (r *sockets) identify(ctx context.Context, c client) (auth.Identity, error) {
	who, _, err := r.authenticate(ctx, credentials{token: c.self().token, bearer: true})
	return who, err
}

// ended closes the sockets whose session has ended.
func (r *sockets) ended(end retwis.SessionEnd) {
	if end == (retwis.SessionEnd{}) {
		r.newsLost()
		return
	}
	r.mu.Lock()
	for a := range r.admissions {
		if len(a.ended) == maxEnded {
			a.again = true
			continue
		}
		a.ended = append(a.ended, end)
	}
	var affected []client
	set := r.byUser[end.User]
	if end.Session.Hash != "" {
		set = r.bySession[end.Session.Hash]
	}
	for s := range set {
		if s.self().who.EndedBy(end) {
			affected = append(affected, s)
		}
	}
	r.mu.Unlock()
	for _, s := range affected {
		s.leave(closeForbidden, "The session has ended")
	}
}

// newsLost has every session checked, soon and in the background.
func (r *sockets) newsLost() {
	r.mu.Lock()
	for a := range r.admissions {
		a.again = true
	}
	r.mu.Unlock()
	select {
	case r.checkAll <- struct{}{}:
	default: // one wish is enough
	}
}

// checkSessions checks the session of each socket every now and then, and when asked,
// until ctx is done. Where a session cannot be read the socket stays, and is checked
// again before long.
func (r *sockets) checkSessions(ctx context.Context) {
	wait := r.opts.RecheckEvery
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-r.checkAll:
			timer.Stop()
		}
		wait = r.opts.RecheckEvery
		if !r.recheck(ctx) {
			wait = min(wait, recheckFailed)
		}
	}
}

// recheck reads the session of each authenticated socket and closes those without one.
// It reports whether all could be read.
func (r *sockets) recheck(ctx context.Context) bool {
	r.mu.Lock()
	var admitted []client
	for _, set := range r.byUser {
		for s := range set {
			admitted = append(admitted, s)
		}
	}
	r.mu.Unlock()

	var group errgroup.Group
	var failed atomic.Int64
	group.SetLimit(rechecksAtOnce)
	for _, s := range admitted {
		// Where nothing can be read, thousands of sockets would wait for their deadlines.
		if ctx.Err() != nil || failed.Load() >= 4*rechecksAtOnce {
			break
		}
		group.Go(func() error {
			_, err := r.identify(ctx, s)
			switch {
			case errors.Is(err, retwis.ErrUnauthenticated):
				s.leave(closeForbidden, "The session has ended")
			case err != nil:
				failed.Add(1)
				return err
			}
			return nil
		})
	}
	err := group.Wait()
	if err != nil && ctx.Err() == nil {
		r.engine.log.WarnContext(ctx, "sessions of open websockets could not be checked", "err", err)
	}
	return err == nil
}

// holderOf returns under whom the sockets and subscriptions of a context count.
func holderOf(ctx context.Context) ratelimit.Key {
	return ratelimit.Client{User: auth.IdentityOf(ctx).User, Address: auth.RequestOf(ctx).Address}.Key()
}

// drain sends all clients away, spread over a time so that they do not all come to the
// next process at once. It returns when every socket is gone or ctx is done.
func (r *sockets) drain(ctx context.Context, over time.Duration) {
	r.mu.Lock()
	r.draining = true
	var all []client
	for s := range r.open {
		all = append(all, s)
	}
	r.mu.Unlock()
	defer r.cancel()

	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	start := time.Now()
	for i, s := range all {
		at := start.Add(over * time.Duration(i) / time.Duration(len(all)))
		if sleep.For(ctx, time.Until(at)) != nil {
			break
		}
		s.leave(closeRestart, "Service restart")
	}

	gone := make(chan struct{})
	go func() {
		r.wire.tasks.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return
	case <-ctx.Done():
	}
	for _, s := range all {
		s.abort()
	}
	select {
	case <-gone:
	case <-time.After(time.Second):
		r.engine.log.Warn("operations of websockets do not stop")
	}
}

func index[K comparable](sets map[K]clientSet, key K, c client) {
	if sets[key] == nil {
		sets[key] = clientSet{}
	}
	sets[key][c] = struct{}{}
}

func unindex[K comparable](sets map[K]clientSet, key K, c client) {
	set := sets[key]
	delete(set, c)
	if len(set) == 0 {
		delete(sets, key)
	}
}
