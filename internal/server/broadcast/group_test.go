package broadcast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/operation"
)

// counting is an executor that renders the cursor of each event.
type counting struct {
	operation.Executor
	mu       sync.Mutex // groups render at the same time
	rendered int
	charged  []ratelimit.Client // for events
	holders  []ratelimit.Client // of the shares for them
	refusal  error
	refused  ratelimit.Client // the only one that the refusal is for, unless zero
	hold     chan struct{}    // unless nil, refusals wait until it is closed
	points   int              // charged for bytes
}

// Check implements [operation.Executor].
func (c *counting) Check(client ratelimit.Client) error {
	if c.refused == (ratelimit.Client{}) || c.refused == client {
		return c.refusal
	}
	return nil
}

// Charge implements [operation.Executor].
func (c *counting) Charge(_ ratelimit.Client, points int) error {
	c.points += points
	return c.refusal
}

// RenderFor implements [operation.Executor].
func (c *counting) RenderFor(
	_ context.Context, _ *graphql.OperationContext, e retwis.Event, payer, holder ratelimit.Client,
) (*graphql.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charged = append(c.charged, payer)
	c.holders = append(c.holders, holder)
	if err := c.Check(payer); err != nil {
		if c.hold != nil {
			c.mu.Unlock()
			<-c.hold
			c.mu.Lock()
		}
		return nil, err
	}
	c.rendered++
	return &graphql.Response{Data: json.RawMessage(`"` + string(e.EventCursor()) + `"`)}, nil
}

// RenderGroup implements [operation.Executor].
func (*counting) RenderGroup(op *graphql.OperationContext) (key string, size int, perViewer bool) {
	return op.RawQuery[max(0, len(op.RawQuery)-32):], len(op.RawQuery), false
}

func newTestGroups(ctx context.Context) (*Groups, *counting) {
	executor := &counting{}
	return newGroups(ctx, executor), executor
}

func newGroups(ctx context.Context, executor operation.Executor) *Groups {
	return NewGroups(ctx, operation.NewRunner(operation.RunnerOptions{
		Executor: executor, Log: slog.New(slog.DiscardHandler), Metrics: operation.NewMetrics(prometheus.NewRegistry(), nil),
	}), cost.NewShares())
}

func join(t *testing.T, groups *Groups, m *Member, op *graphql.OperationContext, client ratelimit.Client, to Recipient) {
	t.Helper()
	if err := groups.Join(m, op, client, to); err != nil {
		t.Fatal(err)
	}
}

// joinAlone makes a member the only subscription of all groups, and returns the executor of its events.
func joinAlone(t *testing.T, client ratelimit.Client, member *Member, to Recipient) *counting {
	t.Helper()
	groups, executor := newTestGroups(t.Context())
	join(t, groups, member, &graphql.OperationContext{RawQuery: "news"}, client, to)
	return executor
}

// Attack: a network with thousands of subscriptions, which had to rest, kept the events of others waiting in their queue.
func TestGroup_ALargeNetworkDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		groups, _ := newTestGroups(ctx)
		op := &graphql.OperationContext{RawQuery: "news"}
		large := ratelimit.Client{Address: netip.MustParseAddr("192.0.2.1")}
		small := ratelimit.Client{Address: netip.MustParseAddr("198.51.100.1")}
		var members []*Member
		to := make([]*received, 4*maxSharing)
		for i := range to {
			m := &Member{}
			to[i] = &received{}
			join(t, groups, m, op, large, to[i])
			members = append(members, m)
		}
		other, toOther := &Member{}, &received{}
		join(t, groups, other, op, small, toOther)
		members = append(members, other)

		var turns []*cost.Turn // of the large network, which it does not get back for a while
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			turns = append(turns, groups.shares.Decode(ctx, large))
		}
		for n := range 3 {
			for _, m := range members {
				m.Take(&retwis.Advanced{Cursor: retwis.Cursor(fmt.Sprint(n))})
			}
		}
		synctest.Wait()
		if len(toOther.texts) != 3 {
			t.Errorf("the member of another network got %d events, want 3", len(toOther.texts))
		}
		for i, got := range to {
			if want := 3; i < maxSharing && len(got.texts) != want || i >= maxSharing && len(got.texts) > 0 {
				t.Errorf("member %d of the large network got %d events", i, len(got.texts))
			}
		}
		for _, turn := range turns {
			turn.End()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for i, got := range to {
			if want := []string{`{"data":"0"}`, `{"data":"1"}`, `{"data":"2"}`}; !slices.Equal(got.texts, want) {
				t.Errorf("member %d of the large network got %q, want %q", i, got.texts, want)
			}
		}
		cancel()
	})
}

// stopping is an executor that renders nothing until it may.
type stopping struct {
	counting
	begin chan struct{} // closed when it may
}

// RenderFor implements [operation.Executor].
func (s *stopping) RenderFor(
	ctx context.Context, op *graphql.OperationContext, e retwis.Event, payer, holder ratelimit.Client,
) (*graphql.Response, error) {
	<-s.begin
	return s.counting.RenderFor(ctx, op, e, payer, holder)
}

// Attack: hundreds of replays of one network waited to be rendered before the live events of the others with the same selection.
func TestGroup_ReplaysOfANetworkDelayNoOther(t *testing.T) {
	t.Parallel()
	executor := &stopping{begin: make(chan struct{})}
	groups := newGroups(t.Context(), executor)
	op := &graphql.OperationContext{RawQuery: "news"}
	other := &Member{}
	join(t, groups, other, op, ratelimit.Client{Address: netip.MustParseAddr("198.51.100.1")}, &received{})
	const replays = 100
	to := make([]received, replays)
	var running sync.WaitGroup
	for i := range replays {
		m := &Member{}
		join(t, groups, m, op, ratelimit.Client{User: retwis.UserID(i + 1), Address: netip.MustParseAddr("192.0.2.1")}, &to[i])
		running.Go(func() { m.Replay(t.Context(), post(retwis.PostID(i+1), "a")) })
	}
	for range 50 {
		time.Sleep(time.Millisecond)
		groups.cache.mu.Lock()
		begun := len(groups.cache.known)
		groups.cache.mu.Unlock()
		if most := max(1, runtime.GOMAXPROCS(0)/2); begun > most {
			t.Fatalf("%d events of a network are rendered or wait for each other, want %d at most", begun, most)
		}
	}
	close(executor.begin)
	running.Wait()
	for i := range to {
		if len(to[i].texts) != 1 {
			t.Errorf("replay %d got %d events", i, len(to[i].texts))
		}
	}
}

// resting is an executor that renders nothing within the shares of one network.
type resting struct{ counting }

// RenderFor implements [operation.Executor].
func (r *resting) RenderFor(
	ctx context.Context, op *graphql.OperationContext, e retwis.Event, payer, holder ratelimit.Client,
) (*graphql.Response, error) {
	if holder != cost.ForSeveral() {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return r.counting.RenderFor(ctx, op, e, payer, holder)
}

// Attack: an event of a network that had hundreds of operations waited for its turn. Others who then subscribed with the same selection waited behind it
// for up to 17 s.
func TestGroup_ATurnThatANetworkAwaitsDelaysNoneThatJoins(t *testing.T) {
	t.Parallel()
	for name, executor := range map[string]operation.Executor{"to send": &counting{}, "to render": &resting{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				groups := newGroups(ctx, executor)
				op := &graphql.OperationContext{RawQuery: "news"}
				busy := ratelimit.Client{User: 1, Address: netip.MustParseAddr("192.0.2.1")}
				var turns []*cost.Turn // of the busy network, which it does not get back for a while
				if name == "to send" {
					for range max(1, runtime.GOMAXPROCS(0)/2) {
						turns = append(turns, groups.shares.Decode(ctx, busy))
					}
				}
				first, second := &Member{}, &Member{}
				toFirst, toSecond := &received{}, &received{}
				join(t, groups, first, op, busy, toFirst)
				first.Take(post(1, "a"))
				synctest.Wait()
				if len(toFirst.texts) > 0 {
					t.Fatal("the event did not wait")
				}
				join(t, groups, second, op, ratelimit.Client{User: 2, Address: netip.MustParseAddr("198.51.100.1")}, toSecond)
				second.Take(post(1, "b"))
				second.Take(post(2, "c"))
				synctest.Wait()
				if want := []string{`{"data":"b"}`, `{"data":"c"}`}; !slices.Equal(toSecond.texts, want) {
					t.Errorf("the member of another network got %q, want %q", toSecond.texts, want)
				}
				if want := []string{`{"data":"a"}`}; !slices.Equal(toFirst.texts, want) {
					t.Errorf("the member of the busy network got %q, want %q", toFirst.texts, want)
				}
				for _, turn := range turns {
					turn.End()
				}
			})
		})
	}
}

// received is a recipient that keeps the responses.
type received struct {
	texts   []string
	stopped bool
	reasons []error // of the end
	price   int     // of an event, beside its bytes
	more    []bool  // of the events whose price was asked
}

func (r *received) Emit(event *Rendered, cursor retwis.Cursor, _ bool) {
	r.texts = append(r.texts, string(event.AppendTo(nil, string(cursor))))
}
func (r *received) Price(bytes int, more bool) int {
	r.more = append(r.more, more)
	return r.price + bytes
}
func (*received) Room() <-chan struct{} { return nil }
func (*received) Failed(error)          {}
func (r *received) Stop()               { r.stopped = true }
func (r *received) Ended(reason error)  { r.reasons = append(r.reasons, reason) }

func post(id retwis.PostID, cursor retwis.Cursor) retwis.Event {
	return &retwis.PostAdded{Edge: retwis.PostEdge{Cursor: cursor, Post: &retwis.Post{ID: id}}}
}

// Attack: 256 subscriptions whose nested arguments have 240 KB each kept 110 MB for one client.
func TestGroups_RefuseOperationsThatAreTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, _ := newTestGroups(t.Context())
		var member Member
		err := groups.Join(&member, &graphql.OperationContext{}, ratelimit.Client{User: 7}, &received{}) // without a key
		if !errors.Is(err, errTooLong) || groups.Len() != 0 || len(groups.ofClient) != 0 {
			t.Errorf("Join: %v; %d groups", err, groups.Len())
		}
	})
}

// Attack: sixteen clients took all groups. From then on, each further client had a group for each of its subscriptions.
func TestGroups_AreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, executor := newTestGroups(t.Context())
		for i := range maxGroups {
			groups.byKey[groupKey{operation: fmt.Sprint(i)}] = &group{}
		}
		var members [4]Member
		var got [4]received
		op := &graphql.OperationContext{RawQuery: "news"}
		for i := range members {
			join(t, groups, &members[i], op, ratelimit.Client{User: retwis.UserID(1 + i%2)}, &got[i])
			members[i].Take(post(7, retwis.Cursor(fmt.Sprint("c", i))))
		}
		synctest.Wait()
		for i, r := range got {
			if want := fmt.Sprintf(`{"data":"c%d"}`, i); len(r.texts) != 1 || r.texts[0] != want {
				t.Errorf("subscriber %d got %q, want %s", i, r.texts, want)
			}
		}
		if executor.rendered != 2 {
			t.Errorf("%d renderings, want one for each client beyond the bound", executor.rendered)
		}
		more := make([]Member, groupsOfClient)
		for i := range groupsOfClient - 1 {
			join(t, groups, &more[i], &graphql.OperationContext{RawQuery: fmt.Sprint("more", i)}, ratelimit.Client{User: 1}, &received{})
		}
		var refused Member
		if err := groups.Join(&refused, &graphql.OperationContext{RawQuery: "one more"}, ratelimit.Client{User: 1}, &received{}); !errors.Is(err, errRateLimited) {
			t.Errorf("one more group of a client beyond the bound: %v", err)
		}
		for i := range members {
			members[i].End(nil)
		}
		for i := range groupsOfClient - 1 {
			more[i].End(nil)
		}
		synctest.Wait()
		if n := groups.Len(); n != maxGroups || len(groups.ofClient) != 0 {
			t.Errorf("%d groups are left, want %d, and %d clients with groups", n, maxGroups, len(groups.ofClient))
		}
	})
}

// Attack: each group keeps the operation of a member, half a megabyte of a client that sent a few kilobytes. And one client could take all
// groups, so that the events of others were rendered for each subscription.
func TestGroups_OfOneClientAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, _ := newTestGroups(t.Context())
		attacker, other := ratelimit.Client{User: 7}, ratelimit.Client{User: 8}
		op := func(i int) *graphql.OperationContext { return &graphql.OperationContext{RawQuery: fmt.Sprint(i)} }
		members := make([]Member, groupsOfClient)
		for i := range members {
			join(t, groups, &members[i], op(i), attacker, &received{})
		}
		var refused, same, others Member
		if err := groups.Join(&refused, op(groupsOfClient), attacker, &received{}); !errors.Is(err, errRateLimited) {
			t.Errorf("one more group of a client: %v", err)
		}
		join(t, groups, &same, op(0), attacker, &received{})
		join(t, groups, &others, op(groupsOfClient), other, &received{})
		same.End(nil)
		members[1].End(nil)
		synctest.Wait()
		join(t, groups, &refused, op(groupsOfClient), attacker, &received{})
		for _, m := range append([]*Member{&members[0], &refused, &others}, pointers(members[2:])...) {
			m.End(nil)
		}
		synctest.Wait()
		if groups.Len()+len(groups.ofClient)+len(groups.ofNetwork) != 0 {
			t.Errorf("%d groups are left, and those of %d clients", groups.Len(), len(groups.ofClient))
		}
	})
}

// Attack: fifty clients of one address kept 256 operations of 459 KB each.
func TestGroups_KeepABoundedTextPerClientAndNetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, _ := newTestGroups(t.Context())
		const length = 32 << 10
		op := func(i int) *graphql.OperationContext {
			return &graphql.OperationContext{RawQuery: fmt.Sprintf("%0*d", length, i)}
		}
		client := func(user int, address string) ratelimit.Client {
			return ratelimit.Client{User: retwis.UserID(user), Address: netip.MustParseAddr(address)}
		}
		const attacker, neighbour = "192.0.2.1", "192.0.2.2"
		var members []*Member
		add := func(i int, of ratelimit.Client) error {
			m := &Member{}
			err := groups.Join(m, op(i), of, &received{})
			if err == nil {
				members = append(members, m)
			}
			return err
		}
		perClient, perNetwork := sizeOfClient/length, sizeOfNetwork/length
		for i := range perNetwork {
			if err := add(i, client(1+i/perClient, attacker)); err != nil {
				t.Fatalf("group %d of the network: %v", i, err)
			}
			if i == perClient-1 {
				if err := add(perNetwork, client(1, neighbour)); !errors.Is(err, errRateLimited) {
					t.Errorf("a client that keeps %d bytes has one more group: %v", sizeOfClient, err)
				}
			}
		}
		late := client(1000, attacker)
		if err := add(perNetwork, late); !errors.Is(err, errRateLimited) {
			t.Errorf("a network that keeps %d bytes has one more group: %v", sizeOfNetwork, err)
		}
		if err := add(0, late); err != nil {
			t.Errorf("a group that exists: %v", err)
		}
		if err := add(perNetwork, client(1000, neighbour)); err != nil {
			t.Errorf("a group of another network: %v", err)
		}
		for _, m := range members {
			m.End(nil)
		}
		synctest.Wait()
		if groups.Len()+len(groups.ofClient)+len(groups.ofNetwork) != 0 {
			t.Errorf("%d groups are left, and those of %d clients and %d networks", groups.Len(), len(groups.ofClient), len(groups.ofNetwork))
		}
	})
}

// Attack: operations with the same selection take more or less memory. Each that joined the group of a longer one, and left it, made its client and
// network keep less by the difference, until nothing bounded them.
func TestGroups_KeepTheShortestOfTheirOperations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, _ := newTestGroups(t.Context())
		const selection = "%32s" // the key of a group is the end of the text
		short := &graphql.OperationContext{RawQuery: fmt.Sprintf("xx"+selection, "news")}
		long := &graphql.OperationContext{RawQuery: strings.Repeat("x", 1000) + short.RawQuery}
		other := &graphql.OperationContext{RawQuery: fmt.Sprintf(selection, "other")}
		client := func(user int) ratelimit.Client {
			return ratelimit.Client{User: retwis.UserID(user), Address: netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", user))}
		}
		keeps := func(when string, user, want int) {
			t.Helper()
			of, network := groups.ofClient[client(user).Key()].size, groups.ofNetwork[ratelimit.NetworkOf(client(user).Address)].size
			if of != want || network != want {
				t.Errorf("%s: client %d keeps %d bytes, its network %d, want %d", when, user, of, network, want)
			}
		}
		var creator, later, kept Member
		join(t, groups, &creator, long, client(1), &received{})
		join(t, groups, &kept, other, client(2), &received{})
		for range 3 {
			join(t, groups, &later, short, client(2), &received{})
			keeps("beside a longer one", 2, len(short.RawQuery)+len(other.RawQuery))
			if later.Operation() != short {
				t.Error("the group keeps the longer operation")
			}
			later.Withdraw()
			keeps("after it has left", 2, len(other.RawQuery))
			keeps("with its longer one", 1, len(long.RawQuery))
		}
		creator.Withdraw()
		join(t, groups, &later, short, client(2), &received{})
		join(t, groups, &creator, long, client(1), &received{})
		keeps("a longer one in the group of a shorter one", 1, len(short.RawQuery))
		if creator.Operation() != short {
			t.Error("the group keeps the longer operation")
		}
		for _, m := range []*Member{&creator, &later, &kept} {
			m.Withdraw()
		}
		if groups.Len()+len(groups.ofClient)+len(groups.ofNetwork) != 0 {
			t.Errorf("%d groups are left, and those of %d clients and %d networks", groups.Len(), len(groups.ofClient), len(groups.ofNetwork))
		}
	})
}

func pointers(members []Member) []*Member {
	var all []*Member
	for i := range members {
		all = append(all, &members[i])
	}
	return all
}

// Attack: replays of subscriptions that had ended waited in line to render events, with all the posts that they had read.
func TestGroup_MembersThatHaveLeftDoNotWaitInLine(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]retwis.Event{
		"an event that is cached":     post(7, "c"),
		"an event that is not cached": &retwis.MarkerMoved{Cursor: "c"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				groups, executor := newTestGroups(t.Context())
				var members [3]Member
				var got [3]received
				for i := range members {
					client := ratelimit.Client{User: retwis.UserID(i + 1), Address: netip.MustParseAddr("192.0.2.1")}
					join(t, groups, &members[i], &graphql.OperationContext{RawQuery: "news"}, client, &got[i])
				}
				members[0].group.rendering <- struct{}{} // another event is being rendered
				var left atomic.Int32
				ctx, leave := context.WithCancel(t.Context())
				for i, ctx := range []context.Context{ctx, ctx, t.Context()} {
					go func() {
						members[i].Replay(ctx, event)
						left.Add(1)
					}()
					synctest.Wait()
				}
				leave()
				synctest.Wait()
				if left.Load() != 2 || executor.rendered != 0 {
					t.Errorf("%d members have left and %d events are rendered, want 2 and none", left.Load(), executor.rendered)
				}
				<-members[0].group.rendering
				synctest.Wait()
				if left.Load() != 3 || len(got[2].texts) != 1 || len(got[0].texts)+len(got[1].texts) > 0 || executor.rendered != 1 {
					t.Errorf("%d members are done, the last one got %q, the others %q and %q, after %d renderings", left.Load(), got[2].texts, got[0].texts, got[1].texts, executor.rendered)
				}
			})
		})
	}
}

func TestCache_ExpiresEntries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var member Member
		var got received
		executor := joinAlone(t, ratelimit.Client{}, &member, &got)
		cache := &member.group.groups.cache
		for range 2 {
			member.Take(post(7, "c"))
			synctest.Wait()
		}
		if executor.rendered != 1 || len(got.texts) != 2 {
			t.Errorf("%d renderings for %d responses, want one for two", executor.rendered, len(got.texts))
		}
		time.Sleep(2 * cacheTTL)
		synctest.Wait()
		cache.mu.Lock()
		if n := len(cache.known) + len(cache.queue) + cache.bytes; n != 0 {
			t.Errorf("%d entries and bytes are cached", n)
		}
		cache.mu.Unlock()
		member.Take(post(7, "c"))
		synctest.Wait()
		if executor.rendered != 2 {
			t.Errorf("%d renderings, want a new one after the entry expired", executor.rendered)
		}
	})
}
