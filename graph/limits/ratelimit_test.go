package limits_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
)

// asAlice returns a context in which alice is logged in.
func asAlice(t *testing.T) context.Context {
	t.Helper()
	return auth.WithIdentity(t.Context(), auth.Identity{User: alice().ID})
}

func TestRateLimit_CountsOperationsBeforeTheyRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query, variables string
		want                   ratelimit.Cost
	}{
		{"a query", `{ viewer { id } }`, "", ratelimit.Cost{Reads: 12}},
		{"variables", `query($n: Int) { viewer { homeTimeline { unreadCount(atMost: $n) } } }`, `{"n": 20}`, ratelimit.Cost{Reads: 43}},
		{"variables that are not declared", `query($n: Int) { viewer { homeTimeline { unreadCount(atMost: $n) } } }`,
			`{"n": 20, "other": {"list": [` + strings.Repeat("1,", 98) + `1]}}`, ratelimit.Cost{Reads: 43 + 5}},
		{"a page", `{ publicTimeline { posts(first: 50) { edges { node { id } } } } }`, "", ratelimit.Cost{Reads: 172}},
		{"a count", `{ viewer { homeTimeline { unreadCount } } }`, "", ratelimit.Cost{Reads: 122}},
		{"a count and the marker", `query($n: Int) { viewer { homeTimeline { unreadCount(atMost: $n) marker } } }`, `{"n": 20}`, ratelimit.Cost{Reads: 54}},
		{"a count out of bounds", `{ viewer { homeTimeline { unreadCount(atMost: 9000) } } }`, "", ratelimit.Cost{Reads: 123}},
		{"a thread", `{ thread(postId: "x") { ancestors { postId } } }`, "", ratelimit.Cost{Reads: 53}},
		{"the nearest ancestors", `{ thread(postId: "x") { ancestors(last: 3) { postId } } }`, "", ratelimit.Cost{Reads: 35}},
		{"a mark", `mutation { markTimelineRead(input: {timelineId: "x", cursor: "y"}) { __typename } }`, "", ratelimit.Cost{Reads: 512}},
		{"a page with likes", `{ publicTimeline { posts(first: 10) { edges { node { likeCount viewerHasLiked } } } } }`, "", ratelimit.Cost{Reads: 62}},
		{"likers of a page", `{ publicTimeline { posts(first: 10) { edges { node { likers(first: 1) { totalCount } } } } } }`, "", ratelimit.Cost{Reads: 162}},
		{"likes", `mutation { likePost(input: {postId: "x"}) { __typename } unlikePost(input: {postId: "x"}) { __typename } }`, "", ratelimit.Cost{Reads: 214, Likes: 2}},
		{"a post", `mutation { createPost(input: {text: "a"}) { edge { cursor } } }`, "", ratelimit.Cost{Reads: 113, Posts: 1}},
		{"two posts and a follow", `mutation { a: createPost(input: {text: "a"}) { __typename } b: createPost(input: {text: "b"}) { __typename }
			followUser(input: {userId: "x"}) { __typename } }`, "", ratelimit.Cost{Reads: 716, Posts: 2, Follows: 1}},
		{"a list, whose timeline takes memory", `mutation { createList(input: {name: "a"}) { __typename } }`, "", ratelimit.Cost{Reads: 2512}},
		{"a skipped mutation", `mutation($no: Boolean!) { createPost(input: {text: "a"}) @include(if: $no) { __typename } logout { __typename } }`,
			`{"no": false}`, ratelimit.Cost{Reads: 614}},
		{"logins", `mutation($in: LoginInput!, $n: String!) { a: login(input: $in) { token } b: login(input: {username: $n, password: "x"}) { token } }`,
			`{"in": {"username": "Alice", "password": "x"}, "n": "bob"}`, ratelimit.Cost{Reads: 6014, Logins: []string{"Alice", "bob"}}},
		{"a registration", `mutation { register(input: {username: "carol", password: "x"}) { token } }`, "", ratelimit.Cost{Reads: 3012, Registrations: 1}},
		{"a change of password", `mutation { changePassword(input: {currentPassword: "x", newPassword: "y"}) { token } }`, "", ratelimit.Cost{Reads: 6012, Passwords: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(graph.Options{})
			here := netip.MustParseAddr("192.0.2.1")
			params := &graphql.RawParams{Query: tt.query}
			if tt.variables != "" {
				params.Variables = decode(t, tt.variables)
			}
			a.send(auth.WithRequest(asAlice(t), auth.Request{Address: here}), params)
			// The first cost is that of the document.
			if diff := cmp.Diff([]ratelimit.Cost{tt.want}, a.limiter.costs[1:]); diff != "" {
				t.Error(diff)
			}
			if want := (ratelimit.Client{User: alice().ID, Address: here}); a.limiter.clients[0] != want {
				t.Errorf("counted %v", a.limiter.clients[0])
			}
		})
	}
}

func TestRateLimit_RefusesTheWholeOperation(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{})
	a.limiter.refusal = ratelimit.Exceeded(ratelimit.Posts, 90*time.Second)
	response := a.send(asAlice(t), &graphql.RawParams{Query: `mutation { createPost(input: {text: "a"}) { edge { cursor } } }`})
	if err := wantError(t, response, "RATE_LIMITED"); err.Extensions["retryAfter"] != 90 || response.Data != nil {
		t.Errorf("got %v with the data %s", err.Extensions, response.Data)
	}
	if a.backend.calls > 0 || a.limiter.spent > 0 {
		t.Errorf("made %d calls and spent %d, want neither", a.backend.calls, a.limiter.spent)
	}
	a.limiter.refusal = ratelimit.ErrUnavailable
	wantError(t, a.send(asAlice(t), &graphql.RawParams{Query: `mutation { login(input: {username: "a", password: "b"}) { token } }`}), "UNAVAILABLE")
}

// A link to a mutation does not use up the budget of a user who follows it.
func TestRateLimit_IgnoresMutationsOfQueryOnlyRequests(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{})
	for _, query := range []string{`mutation { createPost(input: {text: "a"}) { __typename } }`, `{ viewer { id } }`} {
		_, _, errs := a.executor.Prepare(graphql.StartOperationTrace(asAlice(t)), &graphql.RawParams{Query: query}, true)
		if len(errs) > 0 {
			t.Error(errs)
		}
	}
	documents := []ratelimit.Cost{{Reads: 29}, {Reads: 24}}
	if diff := cmp.Diff(append(documents, ratelimit.Cost{Reads: 12}), a.limiter.costs); diff != "" {
		t.Error(diff)
	}
}

func TestRateLimit_ChargesRefusedRequests(t *testing.T) {
	t.Parallel()
	a := newAPI(graph.Options{})
	for _, query := range []string{`{`, `{ nothing }`, `{ viewer { id } } { viewer { id } }`, nest(17)} {
		a.limiter.spent, a.limiter.costs = 0, nil
		a.run(t, query, "")
		total := a.limiter.spent
		for _, cost := range a.limiter.costs {
			total += cost.Reads
		}
		if total != cost.PerRefusal {
			t.Errorf("%s costs %d, want %d", query, total, cost.PerRefusal)
		}
	}
}

// Attack: a client without budget that never stops asking, and one that disconnects and connects again.
func TestRateLimit_DelaysRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(graph.Options{})
		took := func(query string) time.Duration {
			start := time.Now()
			a.run(t, query, "")
			return time.Since(start)
		}
		if got := took(kindQuery); got > 0 {
			t.Errorf("an operation takes %v", got)
		}
		a.limiter.refusal = ratelimit.Exceeded(ratelimit.Reads, time.Second)
		if got := took(kindQuery); got < 200*time.Millisecond || got > time.Second {
			t.Errorf("a refusal takes %v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		a.send(ctx, &graphql.RawParams{Query: kindQuery})
		if got := time.Since(start); got < 200*time.Millisecond || got > time.Second {
			t.Errorf("the refusal of a client that has disconnected takes %v", got)
		}
	})
}
