package graph

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/ratelimit"
)

// unlimited accepts all operations.
type unlimited struct{}

func (unlimited) Check(ratelimit.Client) error         { return nil }
func (unlimited) Affords(ratelimit.Client) bool        { return true }
func (unlimited) CheckDebt(ratelimit.Client) error     { return nil }
func (unlimited) CheckHalf(ratelimit.Client) error     { return nil }
func (unlimited) Delay(ratelimit.Client) time.Duration { return 0 }
func (unlimited) Take(context.Context, ratelimit.Client, ratelimit.Cost) (ratelimit.Budget, error) {
	return ratelimit.Budget{}, nil
}
func (unlimited) Spend(ratelimit.Client, int)                        {}
func (unlimited) Refund(ratelimit.Client, int)                       {}
func (unlimited) NotRegistered(context.Context, ratelimit.Client)    {}
func (unlimited) LoggedIn(context.Context, ratelimit.Client, string) {}
func (unlimited) Charge(ratelimit.Client, int, int) error            { return nil }
func (unlimited) Budget(context.Context, ratelimit.Client) (ratelimit.Budget, bool) {
	return ratelimit.Budget{Rate: ratelimit.Rate{Limit: 1000, Period: time.Minute}, Remaining: 990, Reset: time.Second}, true
}

// counting records its calls, and refuses operations with its refusal.
type counting struct {
	unlimited
	refusal error
	clients []ratelimit.Client
	costs   []ratelimit.Cost
	spent   int
	failed  int
	names   []string
}

func (c *counting) Take(_ context.Context, client ratelimit.Client, cost ratelimit.Cost) (ratelimit.Budget, error) {
	c.clients, c.costs = append(c.clients, client), append(c.costs, cost)
	return ratelimit.Budget{}, c.refusal
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

func TestRateLimits_RecordLoginsAndFailedRegistrations(t *testing.T) {
	t.Parallel()
	a, counted := newCountedAPI()
	a.addUser("alice")
	a.run(as(t, nil), `mutation { a: login(input: {username: "alice", password: "alice's password"}) { token }
		b: login(input: {username: "bob", password: "nothing"}) { token } }`, "")
	a.run(as(t, nil), `mutation { c: register(input: {username: "alice", password: "a password"}) { token }
		d: register(input: {username: "carol", password: "a password"}) { token } }`, "")
	if diff := cmp.Diff([]string{"alice"}, counted.names); diff != "" || counted.failed != 1 {
		t.Errorf("recorded logins of %v, returned %d registrations", counted.names, counted.failed)
	}
}

func TestRateLimit_ReturnsTheBudget(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	response := a.run(as(t, nil), `{ rateLimit { cost limit remaining } viewer { id } }`, "")
	wantData(t, response, `{"rateLimit": {"cost": 16, "limit": 1000, "remaining": 990}, "viewer": null}`)
	a, _ = newCountedAPI()
	wantData(t, a.run(as(t, nil), `{ rateLimit { cost resetAt } }`, ""), `{"rateLimit": null}`)
}
