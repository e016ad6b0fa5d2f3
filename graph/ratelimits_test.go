package graph

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"retwis/graph/limits"
	"retwis/internal/auth"
	"retwis/internal/ratelimit"
)

// unlimited lets everything pass.
type unlimited struct{}

func (unlimited) Check(ratelimit.Client) error                                 { return nil }
func (unlimited) Take(context.Context, ratelimit.Client, ratelimit.Cost) error { return nil }
func (unlimited) Spend(ratelimit.Client, int)                                  {}
func (unlimited) NotRegistered(context.Context, ratelimit.Client)              {}
func (unlimited) LoggedIn(context.Context, ratelimit.Client, string)           {}
func (unlimited) Budget(context.Context, ratelimit.Client) (ratelimit.Budget, bool) {
	return ratelimit.Budget{Rate: ratelimit.Rate{Limit: 1000, Period: time.Minute}, Remaining: 990, Reset: time.Second}, true
}

// counting notes what it is asked, and refuses when told to.
type counting struct {
	unlimited
	refusal error
	clients []ratelimit.Client
	costs   []ratelimit.Cost
	spent   int
	failed  int
	names   []string
}

func (c *counting) Take(_ context.Context, client ratelimit.Client, cost ratelimit.Cost) error {
	c.clients, c.costs = append(c.clients, client), append(c.costs, cost)
	return c.refusal
}

func (c *counting) Spend(_ ratelimit.Client, cost int) { c.spent += cost }

func (c *counting) NotRegistered(context.Context, ratelimit.Client) { c.failed++ }

func (c *counting) LoggedIn(_ context.Context, _ ratelimit.Client, name string) {
	c.names = append(c.names, name)
}

func (c *counting) Budget(context.Context, ratelimit.Client) (ratelimit.Budget, bool) {
	return ratelimit.Budget{}, false
}

func newCountedAPI() (*api, *counting) {
	a, counted := newAPI(Options{Introspection: true}), &counting{}
	resolver := a.resolver()
	resolver.Limits = counted
	a.serve(resolver, Options{Introspection: true})
	return a, counted
}

func TestOperationsAreCountedBeforeTheyRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query, variables string
		want                   ratelimit.Cost
	}{
		{"a query", `{ viewer { id } }`, "", ratelimit.Cost{Reads: 2}},
		{"a page", `{ publicTimeline { posts(first: 50) { edges { node { id } } } } }`, "", ratelimit.Cost{Reads: 162}},
		{"a post", `mutation { createPost(input: {text: "a"}) { edge { cursor } } }`, "", ratelimit.Cost{Reads: 3, Posts: 1}},
		{"two posts and a follow", `mutation { a: createPost(input: {text: "a"}) { __typename } b: createPost(input: {text: "b"}) { __typename }
			followUser(input: {userId: "x"}) { __typename } }`, "", ratelimit.Cost{Reads: 6, Posts: 2, Follows: 1}},
		{"what is skipped", `mutation($no: Boolean!) { createPost(input: {text: "a"}) @include(if: $no) { __typename } logout { __typename } }`,
			`{"no": false}`, ratelimit.Cost{Reads: 1004}},
		{"logins", `mutation($in: LoginInput!, $n: String!) { a: login(input: $in) { token } b: login(input: {username: $n, password: "x"}) { token } }`,
			`{"in": {"username": "Alice", "password": "x"}, "n": "bob"}`, ratelimit.Cost{Reads: 4, Logins: []string{"Alice", "bob"}}},
		{"a registration", `mutation { register(input: {username: "carol", password: "x"}) { token } }`, "", ratelimit.Cost{Reads: 2, Registrations: 1}},
		{"a change of password", `mutation { changePassword(input: {currentPassword: "x", newPassword: "y"}) { token } }`, "", ratelimit.Cost{Reads: 2, Passwords: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, counted := newCountedAPI()
			alice := a.addUser("alice")
			here := netip.MustParseAddr("192.0.2.1")
			a.run(auth.WithAddress(as(t, alice), here), tt.query, tt.variables)
			if diff := cmp.Diff([]ratelimit.Cost{tt.want}, counted.costs); diff != "" {
				t.Error(diff)
			}
			if want := (ratelimit.Client{User: alice.ID, Address: here}); counted.clients[0] != want {
				t.Errorf("counted %v", counted.clients[0])
			}
		})
	}
}

func TestOperationsThatComeTooOftenAreNotRun(t *testing.T) {
	t.Parallel()
	a, counted := newCountedAPI()
	alice := a.addUser("alice")
	counted.refusal = ratelimit.Exceeded(ratelimit.Posts, 90*time.Second)
	response := a.run(as(t, alice), `mutation { createPost(input: {text: "a"}) { edge { cursor } } }`, "")
	if err := wantError(t, response, "RATE_LIMITED"); err.Extensions["retryAfter"] != 90 || response.Data != nil {
		t.Errorf("got %v with the data %s", err.Extensions, response.Data)
	}
	if len(a.calls) > 0 || counted.spent > 0 {
		t.Errorf("made the calls %q, and was charged %d for it", a.calls, counted.spent)
	}
	counted.refusal = ratelimit.ErrUnavailable
	wantError(t, a.run(as(t, alice), `mutation { login(input: {username: "a", password: "b"}) { token } }`, ""), "INTERNAL_SERVER_ERROR")
}

// A link to a mutation is not followed, and uses up nothing of whoever clicks on it.
func TestMutationsThatMayNotRunAreNotCounted(t *testing.T) {
	t.Parallel()
	a, counted := newCountedAPI()
	ctx := ratelimit.WithQueriesOnly(as(t, a.addUser("alice")))
	for _, query := range []string{`mutation { createPost(input: {text: "a"}) { __typename } }`, `{ viewer { id } }`} {
		_, errs := a.executor.CreateOperationContext(graphql.StartOperationTrace(ctx), &graphql.RawParams{Query: query})
		if len(errs) > 0 {
			t.Error(errs)
		}
	}
	if diff := cmp.Diff([]ratelimit.Cost{{Reads: 2}}, counted.costs); diff != "" {
		t.Error(diff)
	}
}

func TestWrongOperationsCost(t *testing.T) {
	t.Parallel()
	a, counted := newCountedAPI()
	for _, query := range []string{`{`, `{ nothing }`, `{ viewer { id } } { viewer { id } }`, nest(17)} {
		counted.spent = 0
		if a.run(as(t, nil), query, ""); counted.spent != limits.RefusedCost {
			t.Errorf("%s costs %d", query, counted.spent)
		}
	}
	if len(counted.costs) > 0 {
		t.Errorf("counted %v", counted.costs)
	}
}

func TestLoginsAreRemembered(t *testing.T) {
	t.Parallel()
	a, counted := newCountedAPI()
	a.addUser("alice")
	a.run(as(t, nil), `mutation { a: login(input: {username: "alice", password: "alice's password"}) { token }
		b: login(input: {username: "bob", password: "nothing"}) { token }
		c: register(input: {username: "alice", password: "a password"}) { token }
		d: register(input: {username: "carol", password: "a password"}) { token } }`, "")
	if diff := cmp.Diff([]string{"alice"}, counted.names); diff != "" || counted.failed != 1 {
		t.Errorf("remembered %v, gave back %d registrations", counted.names, counted.failed)
	}
}

func TestRateLimitField(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	response := a.run(as(t, nil), `{ rateLimit { cost limit remaining } viewer { id } }`, "")
	wantData(t, response, `{"rateLimit": {"cost": 6, "limit": 1000, "remaining": 990}, "viewer": null}`)
	a, _ = newCountedAPI()
	wantData(t, a.run(as(t, nil), `{ rateLimit { cost resetAt } }`, ""), `{"rateLimit": null}`)
}
