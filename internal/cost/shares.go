package cost

import (
	"context"
	"math"
	"net/netip"
	"runtime"
	"time"

	"retwis/internal/fair"
	"retwis/internal/ratelimit"
)

// Shares divide what a process has between the holders of budgets: users, and networks of anonymous clients. So the
// operations of one holder do not delay those of the others, whatever they cost.
type Shares struct {
	Bytes    Gates // of responses that are written or wait for their readers
	Requests Gates // bytes of large requests that are still arriving
	Events   Gates // bytes of live events that wait to be rendered
	Replays  Gates // bytes of the entries of replays, and of live events that wait for their ends
	Filters  Gates // bytes of the filters of open subscriptions
	Posts    Gates // number of posts that replays have loaded and not sent yet
	Values   Gates // bytes that operations keep while they wait or run: their values, documents, and the fields of their responses

	light     Gates // points of the light operations that run
	heavy     Gates // number of the heavy queries that run
	computes  Gates // number of computations beside those, see [Meter.Compute]
	documents Gates // number of documents that are validated, and of plans that are made
	rebuilds  Gates // number of timelines that are rebuilt
	redis     Gates
	long      Gates // like redis, for operations that have done much work
	ofRebuild Gates // like redis, for rebuilds: they hold a turn, so they do not wait for the other exchanges of their clients
	totals    *totals

	active  *activity
	users   *turns                    // pieces of work of users that need a core: messages, operations, writes and hashes of passwords
	turns   *turns                    // those of networks
	catchUp *turns                    // of networks, whose timelines catch up without turns of the cores, but rest likewise
	writes  *fair.Gate[ratelimit.Key] // number of the event streams and render groups that write, and of deliveries to crowds, by network
	crowds  *fair.Gate[ratelimit.Key] // number of the deliveries to crowds that wait for a turn to write, or have one, by network
	replays *fair.Gate[ratelimit.Key] // number of the events of replays that are rendered in groups of several networks, by network
	hashes  *fair.Gate[ratelimit.Key] // number of the passwords that are hashed, by network
	toHash  *fair.Gate[ratelimit.Key] // number of those that are hashed or wait for that, by network
	deflate *fair.Gate[ratelimit.Key] // number of the parts of texts that are compressed, by network
	inflate *fair.Gate[ratelimit.Key] // bytes that compressed messages take while they arrive, beside their texts, by network
}

// ForSeveral returns the holder of the shares of what is done once for several clients. None of them waits for the shares of another, and
// together they use no more than one client.
func ForSeveral() ratelimit.Client { return ratelimit.Client{User: -1} }

// NewShares returns shares of which nothing is in use.
func NewShares() *Shares {
	cores := runtime.GOMAXPROCS(0)
	slots, active := slotsOn(cores), &activity{joined: make(chan netip.Prefix, 1), cores: cores, coresOfHost: runtime.NumCPU()}
	light := NewGates(cores*pointsPerCore, pointsOfHolder)
	light.free = freePoints
	values := NewGates(valuesInFlight, valuesOfHolder)
	values.free, values.freeOf = freeValues, fair.NewGate[ratelimit.Key](math.MaxInt, freeValuesOfNetwork)
	return &Shares{
		Bytes:     NewGates(bytesInFlight, bytesOfHolder),
		Requests:  NewGates(requestsInFlight, requestsOfHolder),
		Events:    NewGates(eventsInFlight, eventsOfHolder),
		Replays:   NewGates(eventsInFlight, eventsOfHolder),
		Filters:   NewGates(eventsInFlight, eventsOfHolder),
		Posts:     NewGates(postsInFlight, postsOfHolder),
		Values:    values,
		light:     light,
		heavy:     NewGates(heavyQueries+1, 1), // one is for what is done for several clients
		computes:  NewGates(slots, 1),
		documents: NewGates(slots, 1),
		rebuilds:  NewGates(slots+1, 1),
		redis:     NewGates(max(2, cores)*redisPerCore, redisOfHolder),
		long:      NewGates(longRedisInFlight, longRedisOfHolder),
		ofRebuild: NewGates(longRedisInFlight, longRedisOfHolder),
		active:    active,
		users:     newTurns(max(1, cores/2), restOfUser, active),
		turns:     newTurns(max(1, cores/2), restOfNetwork, active),
		catchUp:   newTurns(max(1, cores/2), restOfNetwork, active),
		writes:    fair.NewGate[ratelimit.Key](max(1, cores/2), cores),
		crowds:    fair.NewGate[ratelimit.Key](math.MaxInt, max(1, cores/2)),
		replays:   fair.NewGate[ratelimit.Key](math.MaxInt, max(1, cores/2)),
		hashes:    fair.NewGate[ratelimit.Key](max(1, cores/2), cores),
		toHash:    fair.NewGate[ratelimit.Key](hashesPresent, hashesPresent/2),
		deflate:   fair.NewGate[ratelimit.Key](max(1, cores/2), cores),
		inflate:   fair.NewGate[ratelimit.Key](inflateInFlight, inflateOfNetwork),
		totals:    newTotals(),
	}
}

// slotsOn returns how many pieces of work that hardly pause may be in progress: as many as half of the cores, and an even number. They may wait for
// others of their network, for Redis above all. So there are at least two, of which one network has one: those of other networks do not wait for them.
func slotsOn(cores int) int { return max(2, cores/4*2) }

// Validate waits until a new document may be parsed and validated. That hardly pauses, so few are validated at a time: see [slotsOn]. One
// client validates one at a time. The returned function has to be called when it is done.
func (s *Shares) Validate(ctx context.Context, client ratelimit.Client) (done func(), err error) {
	return s.documents.pass(ctx, client, 1)
}

// RunMutation waits until a mutation of a price may run. The returned function has to be called when it is done. Few run: a server executes the
// scripts of mutations one after the other, and those of the workers for them, and workers fall behind if they have less of its time.
func (s *Shares) RunMutation(ctx context.Context, client ratelimit.Client, price int) (done func(), err error) {
	return s.light.pass(ctx, client, price*mutationWeight)
}

// Run waits until work of some points may be done for a subscription. The returned function has to be called when it is done.
func (s *Shares) Run(ctx context.Context, client ratelimit.Client, points int) (done func(), err error) {
	return s.light.pass(ctx, client, points)
}

// RunQuery does the same for a query, or for an event that is rendered, of a price. A heavy query waits for other heavy queries, whose number is
// bounded because of their memory, not of their work: that takes turns. One holder runs one at a time.
func (s *Shares) RunQuery(ctx context.Context, client ratelimit.Client, price int) (done func(), err error) {
	if price > maxLight {
		return s.heavy.pass(ctx, client, 1)
	}
	return s.light.pass(ctx, client, price)
}

// Hold counts bytes of a response that is written or waits for its reader. It reports false if too many do. The returned
// function has to be called when they are written.
func (s *Shares) Hold(client ratelimit.Client, bytes int) (release func(), ok bool) {
	return try(s.Bytes, client, bytes)
}

// Receive counts a large request of at most some bytes that is arriving. It reports false if too many are. The returned
// function has to be called when the request was read.
func (s *Shares) Receive(client ratelimit.Client, bytes int) (release func(), ok bool) {
	return try(s.Requests, client, bytes)
}

// Keep counts bytes of the values, or of the document, of an operation that waits or runs. It reports false if too many do. The
// returned function has to be called when it has ended.
func (s *Shares) Keep(client ratelimit.Client, bytes int) (release func(), ok bool) {
	return s.Values.tryOwn(client, bytes)
}

// freeFilter is how many bytes of each filter do not count: most filters have fewer, and subscriptions are counted besides.
const freeFilter = 1 << 10

// KeepFilter counts bytes of the filter of a subscription until ctx, that of the subscription, is done. It reports false if too many are kept.
func (s *Shares) KeepFilter(ctx context.Context, client ratelimit.Client, bytes int) (ok bool) {
	if bytes <= freeFilter {
		return true
	}
	release, ok := try(s.Filters, client, bytes-freeFilter)
	if ok {
		context.AfterFunc(ctx, release)
	}
	return ok
}

// KeepPosts counts posts that a replay of a client is about to load. It returns how many it may load: some, but fewer, if too many are kept, and four
// in any case, so that no replay waits for another one. The returned function has to be called when they are sent.
func (s *Shares) KeepPosts(client ratelimit.Client, wanted int) (n int, release func()) {
	for n = wanted; n > fewPosts; n /= 2 {
		if release, ok := try(s.Posts, client, n); ok {
			return n, release
		}
	}
	return min(wanted, fewPosts), func() {}
}

func try(g Gates, client ratelimit.Client, n int) (release func(), ok bool) {
	if !g.try(client, n) {
		return func() {}, false
	}
	return func() { g.release(client, n) }, true
}

// Account returns an account of the bytes that wait for the reader of one connection.
func (s *Shares) Account(client ratelimit.Client) *fair.Account[ratelimit.Key] {
	return s.Bytes.account(client)
}

// RequestAccount returns an account of the request that arrives on one connection.
func (s *Shares) RequestAccount(client ratelimit.Client) *fair.Account[ratelimit.Key] {
	return s.Requests.account(client)
}

// InflateAccount returns an account of what the compressed message that arrives on one connection takes beside its text. It counts only for the
// network: all websockets of a network are those of one client before they are authenticated.
func (s *Shares) InflateAccount(client ratelimit.Client) *fair.Account[ratelimit.Key] {
	return fair.NewAccount(s.inflate, NetworkOf(client), nil)
}

// Paid returns a context whose exchanges with Redis wait like those of an operation of a client. They cost nothing: the client has paid for them.
func (s *Shares) Paid(ctx context.Context, client ratelimit.Client) context.Context {
	return With(ctx, NewMeter(Options{Client: client, Shares: s}))
}

// Rebuild waits until the operation of ctx may rebuild a timeline. That takes the process and Redis milliseconds each, whatever the operation costs:
// one client rebuilds one timeline at a time, and all together few: see [slotsOn]. The returned context is for the exchanges of the rebuild, and
// the function has to be called afterwards. Work that belongs to no operation never waits.
func Rebuild(ctx context.Context) (rebuilding context.Context, done func(), err error) {
	m := Of(ctx)
	if m == nil || m.shares == nil {
		return ctx, func() {}, nil
	}
	m.endTurn()
	done, err = m.shares.rebuilds.pass(ctx, m.client, 1)
	return context.WithValue(ctx, gateKey{}, &m.shares.ofRebuild), done, err
}

// gateKey is the key of the gate for the exchanges of a context.
type gateKey struct{}

// Long returns a context for exchanges that may take Redis milliseconds, although they are short. Few of them are in flight.
func Long(ctx context.Context) context.Context {
	if m := Of(ctx); m != nil && m.shares != nil && ctx.Value(gateKey{}) == nil {
		return context.WithValue(ctx, gateKey{}, &m.shares.long)
	}
	return ctx
}

// Enter waits until an exchange of some units may be sent to Redis for the operation of ctx. The returned function has to
// be called after the exchange. Redis serves one command after the other. Long exchanges, and operations that have done much
// work, therefore have few exchanges in flight, so that others do not wait behind them. Beside other networks, all processes together have as many
// scripts of a network in flight as one of them, but each has at least one. Work that belongs to no operation never waits.
func Enter(ctx context.Context, units int) (leave func(), err error) {
	m := Of(ctx)
	if m == nil || m.shares == nil {
		return func() {}, nil
	}
	m.endTurn()
	gate, chosen := ctx.Value(gateKey{}).(*Gates)
	switch {
	case chosen:
	case units > RedisPiece || m.points() > longWork:
		gate = &m.shares.long
	default:
		gate = &m.shares.redis
	}
	times := 1
	if units >= ScriptUnits {
		times = m.shares.active.processesBeside(NetworkOf(m.client))
	}
	units = max(units, redisMinimum)
	m.shares.owe(m.client, time.Duration(units)*workPerUnit)
	return gate.passAs(ctx, m.client, units, times)
}
