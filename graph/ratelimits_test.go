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
	"retwis/internal/retwis"
)

// unlimited lets everything pass.
type unlimited struct{}

func (unlimited) Check(retwis.Client) error                                { return nil }
func (unlimited) Take(context.Context, retwis.Client, retwis.Demand) error { return nil }
func (unlimited) Spend(retwis.Client, int)                                 {}
func (unlimited) NotRegistered(context.Context, retwis.Client)             {}
func (unlimited) LoggedIn(context.Context, retwis.Client, string)          {}
func (unlimited) Allowance(context.Context, retwis.Client) (retwis.Allowance, bool) {
	return retwis.Allowance{Rate: retwis.Rate{Limit: 1000, Period: time.Minute}, Left: 990, Full: time.Second}, true
}

// counting notes what it is asked, and refuses when told to.
type counting struct {
	unlimited
	refusal error
	clients []retwis.Client
	demands []retwis.Demand
	spent   int
	failed  int
	names   []string
}

func (c *counting) Take(_ context.Context, client retwis.Client, demand retwis.Demand) error {
	c.clients, c.demands = append(c.clients, client), append(c.demands, demand)
	return c.refusal
}

func (c *counting) Spend(_ retwis.Client, cost int) { c.spent += cost }

func (c *counting) NotRegistered(context.Context, retwis.Client) { c.failed++ }

func (c *counting) LoggedIn(_ context.Context, _ retwis.Client, name string) {
	c.names = append(c.names, name)
}

func (c *counting) Allowance(context.Context, retwis.Client) (retwis.Allowance, bool) {
	return retwis.Allowance{}, false
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
		want                   retwis.Demand
	}{
		{"a query", `{ viewer { id } }`, "", retwis.Demand{Cost: 2}},
		{"a page", `{ publicTimeline { posts(first: 50) { edges { node { id } } } } }`, "", retwis.Demand{Cost: 162}},
		{"a post", `mutation { createPost(input: {text: "a"}) { edge { cursor } } }`, "", retwis.Demand{Cost: 3, Posts: 1}},
		{"two posts and a follow", `mutation { a: createPost(input: {text: "a"}) { __typename } b: createPost(input: {text: "b"}) { __typename }
			followUser(input: {userId: "x"}) { __typename } }`, "", retwis.Demand{Cost: 6, Posts: 2, Follows: 1}},
		{"what is skipped", `mutation($no: Boolean!) { createPost(input: {text: "a"}) @include(if: $no) { __typename } logout { __typename } }`,
			`{"no": false}`, retwis.Demand{Cost: 1004}},
		{"logins", `mutation($in: LoginInput!, $n: String!) { a: login(input: $in) { token } b: login(input: {username: $n, password: "x"}) { token } }`,
			`{"in": {"username": "Alice", "password": "x"}, "n": "bob"}`, retwis.Demand{Cost: 4, Logins: []string{"Alice", "bob"}}},
		{"a registration", `mutation { register(input: {username: "carol", password: "x"}) { token } }`, "", retwis.Demand{Cost: 2, Registrations: 1}},
		{"a change of password", `mutation { changePassword(input: {currentPassword: "x", newPassword: "y"}) { token } }`, "", retwis.Demand{Cost: 2, Passwords: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, counted := newCountedAPI()
			alice := a.addUser("alice")
			here := netip.MustParseAddr("192.0.2.1")
			a.run(auth.WithAddress(as(t, alice), here), tt.query, tt.variables)
			if diff := cmp.Diff([]retwis.Demand{tt.want}, counted.demands); diff != "" {
				t.Error(diff)
			}
			if want := (retwis.Client{User: alice.ID, Address: here}); counted.clients[0] != want {
				t.Errorf("counted %v", counted.clients[0])
			}
		})
	}
}

func TestOperationsThatComeTooOftenAreNotRun(t *testing.T) {
	t.Parallel()
	a, counted := newCountedAPI()
	alice := a.addUser("alice")
	counted.refusal = retwis.TooMany(retwis.ToPost, 90*time.Second)
	response := a.run(as(t, alice), `mutation { createPost(input: {text: "a"}) { edge { cursor } } }`, "")
	if err := wantError(t, response, "RATE_LIMITED"); err.Extensions["retryAfter"] != 90 || response.Data != nil {
		t.Errorf("got %v with the data %s", err.Extensions, response.Data)
	}
	if len(a.calls) > 0 || counted.spent > 0 {
		t.Errorf("made the calls %q, and was charged %d for it", a.calls, counted.spent)
	}
	counted.refusal = retwis.ErrLimitsUnknown
	wantError(t, a.run(as(t, alice), `mutation { login(input: {username: "a", password: "b"}) { token } }`, ""), "INTERNAL_SERVER_ERROR")
}

// A link to a mutation is not followed, and uses up nothing of whoever clicks on it.
func TestMutationsThatMayNotRunAreNotCounted(t *testing.T) {
	t.Parallel()
	a, counted := newCountedAPI()
	ctx := retwis.WithQueriesOnly(as(t, a.addUser("alice")))
	for _, query := range []string{`mutation { createPost(input: {text: "a"}) { __typename } }`, `{ viewer { id } }`} {
		_, errs := a.executor.CreateOperationContext(graphql.StartOperationTrace(ctx), &graphql.RawParams{Query: query})
		if len(errs) > 0 {
			t.Error(errs)
		}
	}
	if diff := cmp.Diff([]retwis.Demand{{Cost: 2}}, counted.demands); diff != "" {
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
	if len(counted.demands) > 0 {
		t.Errorf("counted %v", counted.demands)
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
