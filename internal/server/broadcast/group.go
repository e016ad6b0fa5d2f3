package broadcast

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/operation"
	"retwis/internal/sleep"
)

const (
	maxGroups   = 4096             // above it, new groups are of one client each
	maxQueues   = 8                // of one group that networks share, each with a goroutine while it is not empty
	maxSharing  = 32               // members of one network that use them; the further ones have as many queues of their own
	renderTime  = 10 * time.Second // for one event, an outage included
	renderPause = 50 * time.Millisecond
)

// Groups is the set of active render groups. The operation of a subscription is rendered
// once per event and group, and not once per subscriber.
//
// A group renders as the anonymous viewer, unless the operation selects a field that depends on the viewer: then the
// group belongs to that viewer alone. So a field without its @viewerDependent directive cannot leak data between viewers.
type Groups struct {
	runner *operation.Runner
	shares *cost.Shares
	ctx    context.Context // ends with the server
	cache  cache
	counts struct{ executions, deliveries atomic.Int64 }

	mu        sync.Mutex
	byKey     map[groupKey]*group
	ofClient  keeping[ratelimit.Key] // groups with members of a client
	ofNetwork keeping[netip.Prefix]
}

// errTooManyGroups refuses a subscription if the groups of its client or network keep much.
var errTooManyGroups = func() error {
	err := retwis.Errorf(retwis.CodeRateLimited, "too many subscriptions with different selections are open: end some of them first")
	err.RetryAfterSeconds = 30
	return err
}()

// errTooLong refuses a subscription whose operation a group would have to keep, with all values of its variables.
var errTooLong = retwis.Errorf(retwis.CodeTooComplex, "the selection of the subscription, with its arguments, is too long: select less, or use shorter arguments")

type groupKey struct {
	operation string
	viewer    retwis.UserID // 0 if the bytes do not depend on the viewer
	client    ratelimit.Key // zero if all clients may join
}

// group is a set of subscriptions that are sent the same bytes, except for the cursor.
type group struct {
	groups   *Groups
	key      groupKey
	size     int                           // of op: see [operation.Executor]; guarded by groups.mu
	clients  map[ratelimit.Key]groupClient // of the members; guarded by groups.mu
	networks map[netip.Prefix]groupNetwork // of the members; guarded by groups.mu
	limits   atomic.Bool                   // some client had no budget left
	queues   []queue
	joined   int // members that have ever joined, which take the queues in turn; guarded by groups.mu

	// alone ends when a member of a second network joins. It is nil unless somebody has asked for it since. Guarded by groups.mu.
	alone    context.Context
	endAlone context.CancelFunc

	rendering chan struct{}                            // has an element while an event is rendered: one at a time
	op        atomic.Pointer[graphql.OperationContext] // the one with the least size of those of its members
}

// groupClient is a client with members of a group.
type groupClient struct {
	members int
	size    int    // that counts for the client: at least that of the group
	lanes   []lane // one in each queue of the group, and then in those of its network
	joined  int    // members that have ever joined; each is named by its number
	limited error  // why subscriptions end: the client had no budget left
	ending  int    // number of the last member that ends for this reason
}

// groupNetwork is a network with members of a group.
type groupNetwork struct {
	members int
	size    int       // that counts for the network, likewise
	queued  []network // in each queue of the group, and then in its own
	own     []queue   // for members beyond [maxSharing]; nil until there is one
}

// NewGroups returns groups that render until ctx is done, and send within some shares.
func NewGroups(ctx context.Context, runner *operation.Runner, shares *cost.Shares) *Groups {
	return &Groups{runner: runner, shares: shares, ctx: ctx, byKey: map[groupKey]*group{}, ofClient: keeping[ratelimit.Key]{}, ofNetwork: keeping[netip.Prefix]{}}
}

// Len returns the number of active groups.
func (g *Groups) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.byKey)
}

// Executions returns how often an operation was executed for an event.
func (g *Groups) Executions() int64 { return g.counts.executions.Load() }

// Deliveries returns how often an event was sent to a subscriber.
func (g *Groups) Deliveries() int64 { return g.counts.deliveries.Load() }

// Join makes m the subscription of a client, which sends its events to a recipient: a member of the group of its operation. It is
// called once, before the subscription starts. It fails if the client has subscriptions with too many different selections.
func (g *Groups) Join(m *Member, op *graphql.OperationContext, client ratelimit.Client, to Recipient) error {
	shared, size, perViewer, err := g.runner.RenderGroup(g.ctx, op)
	if err != nil {
		return err
	}
	key := groupKey{operation: shared}
	if shared == "" {
		return errTooLong
	}
	if perViewer {
		key.viewer = client.User
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	found := g.byKey[key]
	if found == nil && len(g.byKey) >= maxGroups {
		key.client = client.Key()
		found = g.byKey[key]
	}
	if found != nil {
		size = min(size, found.size)
	}
	if !g.keep(size, found, client) {
		return errTooManyGroups
	}
	if found == nil {
		found = &group{groups: g, key: key, rendering: make(chan struct{}, 1), clients: map[ratelimit.Key]groupClient{}, networks: map[netip.Prefix]groupNetwork{}}
		g.byKey[key] = found
		queues := 1
		if key.viewer == 0 && key.client == (ratelimit.Key{}) {
			queues = max(1, min(runtime.GOMAXPROCS(0)/2, maxQueues))
		}
		found.queues = newQueues(queues, false)
	}
	if found.op.Load() == nil || size < found.size {
		found.size = size
		found.op.Store(op) // the longer one would be kept for those who count only the shorter one
	}
	c := found.clients[client.Key()]
	if c.lanes == nil {
		c.lanes, c.size = make([]lane, 2*len(found.queues)), size
	}
	c.members++
	c.joined++
	found.clients[client.Key()] = c
	of := found.networks[ratelimit.NetworkOf(client.Address)]
	if of.queued == nil {
		of.queued, of.size = make([]network, 2*len(found.queues)), size
	}
	of.members++
	found.joined++
	chosen := found.joined % len(found.queues)
	m.queue = &found.queues[chosen]
	if of.members > maxSharing && client.Address.IsValid() {
		if of.own == nil {
			of.own = newQueues(len(found.queues), true)
		}
		m.queue = &of.own[chosen]
		chosen += len(found.queues)
	}
	found.networks[ratelimit.NetworkOf(client.Address)] = of
	if len(found.networks) > 1 {
		found.endAloneLocked()
	}
	m.to, m.client, m.group, m.number = to, client, found, c.joined
	m.network, m.lane = &of.queued[chosen], &c.lanes[chosen]
	return nil
}

// keep counts a group of a size, nil for a new one, for a client and its network unless they have members there. It reports false if that is too much.
func (g *Groups) keep(size int, found *group, client ratelimit.Client) bool {
	network := ratelimit.NetworkOf(client.Address)
	newClient := found == nil || found.clients[client.Key()].members == 0
	newNetwork := client.Address.IsValid() && (found == nil || found.networks[network].members == 0)
	if newClient && !g.ofClient.add(client.Key(), size, kept{groupsOfClient, sizeOfClient}) {
		return false
	}
	if newNetwork && !g.ofNetwork.add(network, size, kept{groupsOfNetwork, sizeOfNetwork}) {
		if newClient {
			g.ofClient.remove(client.Key(), size)
		}
		return false
	}
	return true
}

// leave removes a member of a client.
func (g *group) leave(client ratelimit.Client) {
	g.groups.mu.Lock()
	defer g.groups.mu.Unlock()
	key, network := client.Key(), ratelimit.NetworkOf(client.Address)
	if of := g.networks[network]; of.members > 1 {
		of.members--
		g.networks[network] = of
	} else if delete(g.networks, network); client.Address.IsValid() {
		g.groups.ofNetwork.remove(network, of.size)
	}
	c := g.clients[key]
	if c.members > 1 {
		c.members--
		g.clients[key] = c
		return
	}
	g.groups.ofClient.remove(key, c.size)
	if delete(g.clients, key); len(g.clients) == 0 {
		delete(g.groups.byKey, g.key)
		g.endAloneLocked()
	}
}

func (g *group) endAloneLocked() {
	if g.endAlone != nil {
		g.endAlone()
		g.alone, g.endAlone = nil, nil
	}
}

// holder returns within whose shares an event is rendered that a client pays for: its own if it has all members, or those of its network
// if that has them. So one network does not delay the events of the others. The context ends when that changes, because a member of another network
// joins, and when the server stops.
func (g *group) holder(payer ratelimit.Client) (ratelimit.Client, context.Context) {
	g.groups.mu.Lock()
	defer g.groups.mu.Unlock()
	if len(g.networks) > 1 || len(g.clients) > 1 && !payer.Address.IsValid() {
		return cost.ForSeveral(), g.groups.ctx
	}
	if len(g.clients) == 0 {
		return payer, g.groups.ctx // nothing would end another one
	}
	if g.alone == nil {
		g.alone, g.endAlone = context.WithCancel(g.groups.ctx)
	}
	if len(g.clients) == 1 {
		return payer, g.alone
	}
	return payer.OfNetwork(), g.alone
}

// takeTurn waits until a client's queue may send events. Groups use half of the cores, like event streams: an event can start hundreds of them, and
// Go looks for requests that arrive only when a core has nothing else to do. Queues of one network take turns with those of other networks, and
// with those of several. There is no turn when the server stops.
func (g *group) takeTurn(q *queue, client ratelimit.Client) *cost.Turn {
	for {
		holder, ctx := client.OfNetwork(), g.groups.ctx
		if !q.ofNetwork {
			holder, ctx = g.holder(client)
		}
		turn, err := g.groups.shares.Write(ctx, holder)
		if err == nil || ctx.Err() == nil || g.groups.ctx.Err() != nil {
			return turn
		}
		// Events of another network wait in the queue now. They do not wait for the turn of this one.
	}
}

// takeReplay waits until an event of a client's replay may be rendered. In a group of one network that needs nothing more than the shares of the holder.
// Otherwise the holder is nobody who rests, and live events wait for the one that is rendered.
func (g *group) takeReplay(ctx context.Context, client ratelimit.Client) (done func(), err error) {
	if holder, _ := g.holder(client); holder != cost.ForSeveral() {
		return func() {}, nil
	}
	return g.groups.shares.Replay(ctx, client) //nolint:wrapcheck // ctx is done
}

// limit notes that a client has no budget left. Its members end with the next event. Those of other clients go on, and so do
// members that join later: the client had a budget for them.
func (g *group) limit(client ratelimit.Client, reason error) {
	g.groups.mu.Lock()
	defer g.groups.mu.Unlock()
	if c, ok := g.clients[client.Key()]; ok {
		c.limited, c.ending = reason, c.joined
		g.clients[client.Key()] = c
		g.limits.Store(true)
	}
}

// limitOf returns why a member ends, or nil.
func (g *group) limitOf(m *Member) error {
	if !g.limits.Load() {
		return nil
	}
	g.groups.mu.Lock()
	defer g.groups.mu.Unlock()
	if c := g.clients[m.client.Key()]; m.number <= c.ending {
		return c.limited
	}
	return nil
}

// render returns the bytes of an event for all members. The client of the member that needs them first pays. It fails when
// the server stops, when the response has no JSON encoding, with RATE_LIMITED when this client has to pay and cannot, or with errLeft when ctx is done
// before the event is rendered: a subscription that has ended does not wait in line.
func (g *group) render(ctx context.Context, e retwis.Event, client ratelimit.Client) (*Rendered, error) {
	what, ok := contentOf(e)
	if !ok {
		return g.execute(ctx, e, client)
	}
	for {
		payer := ratelimit.Key{}
		rendered, err := g.groups.cache.get(ctx, cacheKey{g, what}, func() (*Rendered, error) {
			payer = client.Key()
			return g.execute(ctx, e, client)
		})
		if errors.Is(err, errLeft) && ctx.Err() == nil {
			continue // another member was about to render it, and left
		}
		if errors.Is(err, errRateLimited) && payer != client.Key() {
			continue // another client had no budget; it was alone when it began to pay
		}
		return rendered, err
	}
}

// errLeft means that a subscription has ended before its event was rendered.
var errLeft = errors.New("the subscription has ended")

// errOutage means that an event could not be rendered as a whole.
var errOutage = errors.New("an outage failed the rendering of an event")

// execute runs the operation for one event. It retries transient failures for a while:
// subscribers resume after the event, and would never get it. An event that an outage has kept incomplete ends their subscriptions. Once it has begun, it does
// not depend on ctx, because others wait for the result.
func (g *group) execute(ctx context.Context, e retwis.Event, payer ratelimit.Client) (*Rendered, error) {
	select {
	case g.rendering <- struct{}{}:
	case <-ctx.Done():
		return nil, errLeft
	}
	defer func() { <-g.rendering }()
	if ctx.Err() != nil {
		return nil, errLeft
	}
	placeholder := newPlaceholder()
	event := retwis.AtCursor(e, placeholder)
	if event == nil {
		return nil, fmt.Errorf("render an event of the unknown type %T", e)
	}
	giveUp := time.Now().Add(renderTime)
	for wait := renderPause; ; wait = min(2*wait, time.Second) {
		g.groups.counts.executions.Add(1)
		response, err := g.executeOnce(event, payer)
		if err != nil {
			return nil, err
		}
		outage := operation.HasCode(response.Errors, retwis.CodeUnavailable) // which may have failed a part of the event only
		failed := outage || string(response.Data) == "null" && operation.HasCode(response.Errors, retwis.CodeInternal)
		if !failed || time.Now().Add(wait).After(giveUp) {
			rendered, err := cutAt(placeholder, response)
			if err == nil && outage {
				rendered.failure = errOutage
			}
			return rendered, err
		}
		if err := sleep.For(g.groups.ctx, wait); err != nil {
			return nil, err
		}
	}
}

// executeOnce charges the payer. If it has no budget left, its subscriptions end. Those of other clients go on: the next one pays. If a member of another
// network joins meanwhile, it begins again: that member does not wait for the turns of the payer.
func (g *group) executeOnce(event retwis.Event, payer ratelimit.Client) (*graphql.Response, error) {
	for {
		holder, ctx := g.holder(payer)
		response, err := g.executeFor(ctx, event, payer, holder)
		if ctx.Err() == nil || g.groups.ctx.Err() != nil {
			return response, err
		}
	}
}

// executeFor executes the operation within the shares of a holder, until ctx is done.
func (g *group) executeFor(ctx context.Context, event retwis.Event, payer, holder ratelimit.Client) (*graphql.Response, error) {
	if g.key.viewer != 0 {
		ctx = auth.WithIdentity(ctx, auth.Identity{User: g.key.viewer})
	}
	ctx, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	response, err := g.groups.runner.Render(ctx, g.op.Load(), event, payer, holder)
	if errors.Is(err, errRateLimited) {
		g.limit(payer, err)
	}
	return response, err //nolint:wrapcheck // of the runner
}
