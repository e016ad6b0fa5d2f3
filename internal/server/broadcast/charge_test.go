package broadcast

import (
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Attack: a subscription must not execute for ever after it was charged once.
func TestEvents_AreChargedToTheClientThatGetsThemFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, executor := newTestGroups(t.Context())
		alice, bob := ratelimit.Client{User: 7}, ratelimit.Client{Address: netip.MustParseAddr("192.0.2.1")}
		var members [3]Member
		var got [3]received
		op := &graphql.OperationContext{RawQuery: "news"}
		join(t, groups, &members[0], op, alice, &got[0])
		join(t, groups, &members[1], op, alice, &got[1])
		members[0].Take(post(1, "a"))
		members[1].Take(post(1, "b"))
		synctest.Wait()
		if !slices.Equal(executor.charged, []ratelimit.Client{alice}) || executor.holders[0] != alice {
			t.Errorf("charged %v, want one event to the client of both subscriptions", executor.charged)
		}
		join(t, groups, &members[2], op, bob, &got[2])
		members[2].Take(post(2, "c"))
		synctest.Wait()
		if len(executor.charged) != 2 || executor.charged[1] != bob || executor.holders[1] != cost.ForSeveral() || len(got[2].texts) != 1 {
			t.Errorf("charged %v for an event of a group, want the client that got it first", executor.charged)
		}
		members[0].End(nil)
		members[1].End(nil)
		synctest.Wait()
		members[2].Take(post(3, "d"))
		synctest.Wait()
		if len(executor.charged) != 3 || executor.charged[2] != bob || executor.holders[2] != bob {
			t.Errorf("charged %v, want the last event to the client that is left", executor.charged)
		}
		members[2].End(nil)
		synctest.Wait()
		if groups.Len() != 0 {
			t.Error("a group without members is left")
		}
	})
}

// A client without budget ends its own subscriptions, not those of the other clients of the group.
func TestEvents_GoOnForTheClientsWithBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, executor := newTestGroups(t.Context())
		alice, bob := ratelimit.Client{User: 7}, ratelimit.Client{User: 8}
		executor.refusal, executor.refused = ratelimit.Exceeded(ratelimit.Reads, 1), alice
		op := &graphql.OperationContext{RawQuery: "news"}
		var members [3]Member
		var got [3]received
		for i, client := range []ratelimit.Client{alice, bob, alice} {
			join(t, groups, &members[i], op, client, &got[i])
		}
		events := 0
		for _, first := range []int{1, 1, 0, 1} { // pays
			events++
			for i := range members {
				members[(first+i)%len(members)].Take(post(retwis.PostID(events), "text"))
			}
			synctest.Wait()
		}
		if !got[0].stopped || !got[2].stopped || got[1].stopped || len(got[1].texts) != events {
			t.Errorf("after %d events, stopped %v, %v and %v; the client with a budget got %d",
				events, got[0].stopped, got[1].stopped, got[2].stopped, len(got[1].texts))
		}
		if len(got[0].texts) != 2 || len(got[2].texts) != 2 {
			t.Errorf("the client without budget got %d and %d events, want those before it had to pay", len(got[0].texts), len(got[2].texts))
		}
		members[0].End(nil)
		members[2].End(nil)
		synctest.Wait()

		// It may join again when it has a budget.
		executor.refusal = nil
		var member Member
		var again received
		join(t, groups, &member, op, alice, &again)
		member.Take(post(retwis.PostID(events+1), "text"))
		synctest.Wait()
		if again.stopped || len(again.texts) != 1 {
			t.Errorf("after it joined again: stopped %v after %q", again.stopped, again.texts)
		}
		member.End(nil)
		members[1].End(nil)
		synctest.Wait()
	})
}

func TestEvents_EndTheSubscriptionOfAClientWithoutBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var member Member
		var got received
		executor := joinAlone(t, ratelimit.Client{User: 7}, &member, &got)
		member.Take(post(1, "a"))
		synctest.Wait()
		executor.refusal = ratelimit.Exceeded(ratelimit.Reads, 1)
		member.Take(post(2, "b"))
		member.Take(post(3, "c"))
		synctest.Wait()
		executor.refusal = nil
		member.Take(post(4, "d"))
		synctest.Wait()
		if !got.stopped || len(got.texts) != 1 || executor.rendered != 1 {
			t.Errorf("stopped %v after %q, %d events rendered; want it to stop after the first", got.stopped, got.texts, executor.rendered)
		}
		member.End(nil) // of the source, which was stopped
		synctest.Wait()
		if len(got.reasons) != 1 || !errors.Is(got.reasons[0], &retwis.Error{Code: retwis.CodeRateLimited}) {
			t.Errorf("ended with %v", got.reasons)
		}
	})
}

// Attack: 1000 subscriptions of a client with large events, which were rendered once, sent any amount of bytes for nothing.
func TestEvents_ThatWereRenderedForOthersAreChargedForTheirBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, executor := newTestGroups(t.Context())
		op := &graphql.OperationContext{RawQuery: "news"}
		var members [2]Member
		var got [2]received
		for i := range members {
			join(t, groups, &members[i], op, ratelimit.Client{User: 7}, &got[i])
		}
		long := retwis.Cursor(strings.Repeat("a", 3*cost.SharedBytesPerPoint/2-2)) // and two quotes
		take := func(id retwis.PostID) {
			for i := range members {
				members[i].Take(post(id, long))
				synctest.Wait()
			}
		}
		take(1)
		take(2)
		if executor.points != 6 || executor.rendered != 2 {
			t.Errorf("charged %d points for 4 events of 1.5 points, %d of them rendered", executor.points, executor.rendered)
		}
		executor.refusal = ratelimit.Exceeded(ratelimit.Reads, 1)
		members[0].Take(post(2, long))
		synctest.Wait()
		executor.refusal = nil
		members[0].Take(post(2, long))
		synctest.Wait()
		if !got[0].stopped || got[1].stopped || len(got[0].texts) != 3 {
			t.Errorf("without budget: stopped %v, and another subscription %v, after %d events", got[0].stopped, got[1].stopped, len(got[0].texts))
		}
		for i := range members {
			members[i].End(nil)
		}
		synctest.Wait()
		if len(got[0].reasons) != 1 || !errors.Is(got[0].reasons[0], errRateLimited) {
			t.Errorf("ended with %v", got[0].reasons)
		}
	})
}

// Attack: 950 event streams with events of a few bytes paid for these only, and not for the writes.
func TestEvents_AreChargedWhatTheirReadersSay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, executor := newTestGroups(t.Context())
		var member Member
		got := received{price: 2*cost.SharedBytesPerPoint - 1024}
		join(t, groups, &member, &graphql.OperationContext{RawQuery: "news"}, ratelimit.Client{User: 7}, &got)
		text := retwis.Cursor(strings.Repeat("a", 1024-2))
		member.Take(post(0, text))
		member.Take(post(1, text))
		synctest.Wait()
		if executor.points != 4 || !slices.Equal(got.more, []bool{true, false}) {
			t.Errorf("charged %d points for 2 events of 2 points, and said of each whether more follow: %v", executor.points, got.more)
		}
		member.End(nil)
		synctest.Wait()
	})
}

// A client that joins while an event is rendered, and charged to another client without budget, gets the event.
func TestEvents_AreNotRefusedToAClientThatJoinsMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, executor := newTestGroups(t.Context())
		alice, bob := ratelimit.Client{User: 7}, ratelimit.Client{User: 8}
		executor.refusal, executor.refused, executor.hold = ratelimit.Exceeded(ratelimit.Reads, 1), alice, make(chan struct{})
		op := &graphql.OperationContext{RawQuery: "news"}
		var members [2]Member
		var got [2]received
		join(t, groups, &members[0], op, alice, &got[0])
		members[0].Take(post(1, "a"))
		synctest.Wait() // Alice pays for the event, alone
		join(t, groups, &members[1], op, bob, &got[1])
		go members[1].Replay(t.Context(), post(1, "b"))
		synctest.Wait() // Bob waits for it
		close(executor.hold)
		synctest.Wait()
		if !got[0].stopped || len(got[0].texts) != 0 {
			t.Errorf("the client without budget: stopped %v after %q", got[0].stopped, got[0].texts)
		}
		if got[1].stopped || len(got[1].texts) != 1 {
			t.Errorf("the client that joined: stopped %v after %q", got[1].stopped, got[1].texts)
		}
		if want := []ratelimit.Client{alice, bob}; !slices.Equal(executor.charged, want) {
			t.Errorf("charged %v, want %v", executor.charged, want)
		}
		members[0].End(nil)
		members[1].End(nil)
		synctest.Wait()
	})
}

// A client without budget cannot save its subscriptions by starting another, which has a budget and goes on.
func TestEvents_EndSubscriptionsOfAClientThatJoinsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, executor := newTestGroups(t.Context())
		alice, bob := ratelimit.Client{User: 7}, ratelimit.Client{User: 8}
		executor.refusal, executor.refused = ratelimit.Exceeded(ratelimit.Reads, 1), alice
		op := &graphql.OperationContext{RawQuery: "news"}
		var members [4]Member
		var got [4]received
		for i, client := range []ratelimit.Client{alice, alice, bob} {
			join(t, groups, &members[i], op, client, &got[i])
		}
		members[0].Take(post(1, "a"))
		synctest.Wait()
		executor.refusal = nil
		join(t, groups, &members[3], op, alice, &got[3])
		for _, i := range []int{2, 1, 3} {
			members[i].Take(post(2, "b"))
		}
		synctest.Wait()
		for i, stops := range []bool{true, true, false, false} {
			if got[i].stopped != stops {
				t.Errorf("subscription %d: stopped %v, want %v", i, got[i].stopped, stops)
			}
		}
		for i := range members {
			members[i].End(nil)
		}
		synctest.Wait()
		if groups.Len() != 0 {
			t.Error("a group without members is left")
		}
	})
}

// Attack: many replays behind long posts that no filter lets pass. Nothing is sent, but their texts are divided into words.
func TestReplay_EndsWithoutBudgetBeforeItFilters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var member Member
		var got received
		executor := joinAlone(t, ratelimit.Client{User: 7}, &member, &got)
		filtered := 0
		member.FilterBy(func(retwis.Event) retwis.Event { filtered++; return nil })
		member.Replay(t.Context(), post(1, "a"))
		executor.refusal = ratelimit.Exceeded(ratelimit.Reads, 1)
		member.Replay(t.Context(), post(2, "b"))
		executor.refusal = nil
		member.Replay(t.Context(), &retwis.CaughtUp{Cursor: "c"}) // the source may not have noticed
		if !got.stopped || filtered != 1 || len(got.texts) != 0 {
			t.Errorf("stopped %v after %d events were filtered and %q was sent, want one and nothing", got.stopped, filtered, got.texts)
		}
		member.End(nil)
		synctest.Wait()
		if len(got.reasons) != 1 || !errors.Is(got.reasons[0], errRateLimited) {
			t.Errorf("ended with %v", got.reasons)
		}
	})
}

// Attack: two accounts of one network open groups of two clients, so that their large events delay the shared events of everybody.
func TestEvents_OfOneNetworkUseItsShares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, executor := newTestGroups(t.Context())
		here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		clients := []ratelimit.Client{{User: 7, Address: here}, {User: 8, Address: here}, {User: 7, Address: there}}
		var members [3]Member
		var got [3]received
		op := &graphql.OperationContext{RawQuery: "news"}
		event := retwis.PostID(0)
		holder := func() ratelimit.Client {
			event++
			members[0].Take(post(event, "a"))
			synctest.Wait()
			return executor.holders[len(executor.holders)-1]
		}
		for i, want := range []ratelimit.Client{clients[0], {Address: here}, cost.ForSeveral()} {
			join(t, groups, &members[i], op, clients[i], &got[i])
			if got := holder(); got != want {
				t.Errorf("with %d members: rendered within the shares of %v, want %v", i+1, got, want)
			}
		}
		members[2].End(nil)
		synctest.Wait()
		if got, want := holder(), (ratelimit.Client{Address: here}); got != want {
			t.Errorf("after the other network left: rendered within the shares of %v, want %v", got, want)
		}
		members[0].End(nil)
		members[1].End(nil)
		synctest.Wait()
	})
}

// Attack: an event of many selections started hundreds of groups that wrote to websockets at the same moment.
func TestEvents_AreSentInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, _ := newTestGroups(t.Context())
		here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.1")
		var members [3]Member
		var got [3]received
		join(t, groups, &members[0], &graphql.OperationContext{RawQuery: "of one network"}, ratelimit.Client{Address: here}, &got[0])
		for i, address := range []netip.Addr{here, there} {
			join(t, groups, &members[1+i], &graphql.OperationContext{RawQuery: "of two"}, ratelimit.Client{Address: address}, &got[1+i])
		}
		var others []*cost.Turn
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			turn, err := groups.shares.Write(t.Context(), ratelimit.Client{Address: here})
			if err != nil {
				t.Fatal(err)
			}
			others = append(others, turn)
		}
		for i := range members {
			members[i].Take(post(1, "a"))
		}
		synctest.Wait()
		sent := func() int { return len(got[0].texts) + len(got[1].texts) + len(got[2].texts) }
		if n := sent(); n > 0 {
			t.Errorf("sent %d events while others write", n)
		}
		for _, turn := range others {
			turn.End()
		}
		synctest.Wait()
		if n := sent(); n != 3 {
			t.Errorf("sent %d events after the others, want 3", n)
		}
		for i := range members {
			members[i].End(nil)
		}
		synctest.Wait()
	})
}

// Attack: an event for hundreds of subscriptions was sent in one turn, which ended before that, so that several groups sent at once.
func TestEvents_AreSentInShortTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups, _ := newTestGroups(t.Context())
		var turns []*cost.Turn
		var members [3 * turnEvents]Member
		for i := range members {
			to := &inTurn{member: &members[i], turns: &turns}
			join(t, groups, &members[i], &graphql.OperationContext{RawQuery: "news"}, ratelimit.Client{User: 7}, to)
			members[i].queue = members[0].queue
			members[i].lane = members[0].lane
		}
		for i := range members {
			members[i].Take(post(1, "a"))
		}
		synctest.Wait()
		if len(turns) != len(members) {
			t.Fatalf("sent %d events, want %d", len(turns), len(members))
		}
		first := 0 // of the turn
		for i, turn := range turns {
			if turn == nil {
				t.Fatal("an event was sent without a turn")
			}
			if turn != turns[first] {
				first = i
			}
			if i-first >= turnEvents {
				t.Fatalf("more than %d events were sent in one turn", turnEvents)
			}
		}
		for i := range members {
			members[i].End(nil)
		}
		synctest.Wait()
	})
}

// inTurn records the turns in which events are sent.
type inTurn struct {
	received
	member *Member
	turns  *[]*cost.Turn
}

func (r *inTurn) Emit(*Rendered, retwis.Cursor, bool) {
	*r.turns = append(*r.turns, r.member.queue.turn)
}
