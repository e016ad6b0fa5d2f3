package clients

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"retwis/internal/auth"
	"retwis/internal/netpoll"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// LeaveReason is why the server ends a connection.
type LeaveReason int

// The reasons of the server.
const (
	SessionEnded  LeaveReason = iota // the client authenticates again
	ServerRestart                    // the client connects to another process
)

// Client is a connection that outlives the request that opened it.
type Client interface {
	// Mute lets the client start nothing more, and queues nothing more for it than the responses of running mutations. [Client.Leave] follows.
	Mute(reason LeaveReason)
	// Leave ends the connection in an orderly way. It does not wait.
	Leave(reason LeaveReason)
	// Abort closes the connection at once.
	Abort()
	// Tick sends a ping when one is due. It reports false once if the client no longer answers. [Client.Abort] follows.
	Tick(now time.Time) bool
	// User returns the identity of the client.
	User() *Visitor
	// QueuedBytes returns how many bytes are queued for the client.
	QueuedBytes() int
}

// Visitor is the identity of a client. It has its address from the beginning. [Registry.Admit] writes the rest before it enters the client in the index by
// user.
type Visitor struct {
	Identity auth.Identity
	Address  netip.Addr // of the client
	token    string
}

// User implements [Client].
func (v *Visitor) User() *Visitor { return v }

// Options of a [Registry]. All fields are required.
type Options struct {
	Accounts     Authenticator
	Log          *slog.Logger
	PingEvery    time.Duration
	PongWait     time.Duration
	RecheckEvery time.Duration   // between checks of the sessions of open connections
	Tasks        *sync.WaitGroup // of everything that runs for the connections

	// Turn waits until something may be done for a network of clients. The returned function has to be called afterwards.
	Turn func(network ratelimit.Client) (done func())
}

// Registry is the index of all open connections.
type Registry struct {
	opts     Options
	ticker   ticker
	checkAll chan struct{} // holds one request to check every session

	mu         sync.Mutex
	draining   bool
	open       map[Client]struct{}
	byUser     map[retwis.UserID][]Client
	admissions map[*admission]struct{}
}

// NewRegistry returns an empty registry.
func NewRegistry(opts Options) *Registry {
	r := &Registry{
		opts:       opts,
		checkAll:   make(chan struct{}, 1),
		open:       map[Client]struct{}{},
		byUser:     map[retwis.UserID][]Client{},
		admissions: map[*admission]struct{}{},
	}
	r.ticker = ticker{every: tickInterval(opts.PingEvery, opts.PongWait), tick: r.tick}
	return r
}

// Serve enters a client that is not authenticated yet, and calls serve in a goroutine that
// [Registry.Drain] waits for. It reports false when the server is stopping.
func (r *Registry) Serve(c Client, serve func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return false
	}
	r.enterLocked(c)
	r.opts.Tasks.Add(1)
	go serve()
	return true
}

// Enter enters a client that the caller serves. It reports false when the server is
// stopping.
func (r *Registry) Enter(c Client) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return false
	}
	r.enterLocked(c)
	return true
}

func (r *Registry) enterLocked(c Client) {
	r.open[c] = struct{}{}
	r.ticker.start()
}

// Remove forgets a client.
func (r *Registry) Remove(c Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.open, c); len(r.open) == 0 {
		r.ticker.stop()
	}
	user := c.User().Identity.User
	r.byUser[user] = slices.DeleteFunc(r.byUser[user], func(other Client) bool { return other == c })
	if len(r.byUser[user]) == 0 {
		delete(r.byUser, user)
	}
}

// Len returns how many connections are open.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// QueuedBytes returns how many bytes wait for the readers of all connections.
func (r *Registry) QueuedBytes() int {
	sum := 0
	for _, c := range r.all() {
		sum += c.QueuedBytes()
	}
	return sum
}

func (r *Registry) all() []Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Client, 0, len(r.open))
	for c := range r.open {
		all = append(all, c)
	}
	return all
}

// tickBatch is the number of clients that a tick visits before the core is left to others: a ping may be due for all of them.
const tickBatch = 64

// tick pings the clients for which a ping is due, and drops those that are gone.
func (r *Registry) tick(now time.Time) {
	var gone []Client
	for i, c := range r.all() {
		if i%tickBatch == tickBatch-1 {
			netpoll.Yield()
		}
		if !c.Tick(now) {
			gone = append(gone, c)
		}
	}
	r.inTurn(gone, Client.Abort)
}

// inTurn ends clients, each in a turn of its network: thousands may end at the same moment, and each may have a hundred subscriptions. A user would have
// turns later, and could delay them. It does not wait.
func (r *Registry) inTurn(all []Client, end func(Client)) {
	byNetwork := map[netip.Prefix][]Client{}
	r.mu.Lock()
	for _, c := range all {
		network := ratelimit.NetworkOf(c.User().Address)
		byNetwork[network] = append(byNetwork[network], c)
	}
	draining := r.draining
	for network, some := range byNetwork {
		if draining {
			break
		}
		r.opts.Tasks.Go(func() {
			for _, c := range some {
				done := r.opts.Turn(ratelimit.Client{Address: network.Addr()})
				end(c)
				done()
			}
		})
	}
	r.mu.Unlock()
	if draining { // then all end
		for _, c := range all {
			end(c)
		}
	}
}

// Drain ends all connections. It spreads them over a time, so that the clients do not all
// connect to the next process at once. It returns when everything that runs for the
// connections has stopped, or soon after ctx is done.
func (r *Registry) Drain(ctx context.Context, over time.Duration) {
	r.mu.Lock()
	r.draining = true
	r.mu.Unlock()
	all := r.all()

	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	start := time.Now()
	for i, c := range all {
		at := start.Add(over * time.Duration(i) / time.Duration(len(all)))
		if sleep.For(ctx, time.Until(at)) != nil {
			break
		}
		c.Leave(ServerRestart)
	}

	stopped := make(chan struct{})
	go func() {
		r.opts.Tasks.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
		return
	case <-ctx.Done():
	}
	for _, c := range all {
		c.Abort()
	}
	select {
	case <-stopped:
	case <-time.After(time.Second):
		r.opts.Log.Warn("server: operations of websockets did not stop in time")
	}
}
