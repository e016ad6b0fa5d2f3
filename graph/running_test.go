package graph

import (
	"context"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// What a client starts waits while its share is in use. Other clients do not wait.
func TestOperations_WaitForTheShareOfTheirClient(t *testing.T) {
	t.Parallel()
	const query = `{ publicTimeline { kind } }`
	for name, tt := range map[string]struct {
		known string // a document
		start func(*api, context.Context)
	}{
		"a query":    {query, func(a *api, ctx context.Context) { _ = a.run(ctx, query, "") }},
		"a mutation": {`mutation { logout { __typename } }`, func(a *api, ctx context.Context) { _ = a.run(ctx, `mutation { logout { __typename } }`, "") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAPI(Options{})
				_ = a.run(t.Context(), tt.known, "")
				done, err := a.executor.shares.Run(t.Context(), ratelimit.Client{User: 1}, 1<<20) // counts as the whole share
				if err != nil {
					t.Fatal(err)
				}
				finished := map[retwis.UserID]bool{}
				for _, user := range []retwis.UserID{1, 2} {
					go func() {
						tt.start(a, auth.WithIdentity(t.Context(), auth.Identity{User: user}))
						finished[user] = true
					}()
					synctest.Wait()
				}
				if finished[1] || !finished[2] {
					t.Errorf("finished although the share is in use: %v, of another client: %v", finished[1], finished[2])
				}
				done()
				synctest.Wait()
				if !finished[1] {
					t.Error("not finished although the share is free")
				}
			})
		})
	}
}

// Attack: twenty accounts of one network sent new documents at the same moment. Their validation never pauses, and kept all cores busy.
func TestCreateOperation_ValidatesFewDocumentsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		var ends []func()
		for n := range max(2, runtime.GOMAXPROCS(0)/2) {
			done, err := a.executor.shares.Validate(t.Context(), ratelimit.Client{User: retwis.UserID(n + 1)})
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, done)
		}
		validate := func(query string) {
			_, _ = a.executor.CreateOperationContext(graphql.StartOperationTrace(t.Context()), &graphql.RawParams{Query: query})
		}
		start := time.Now()
		validate(`{ publicTimeline { liveCursor } }`)
		if time.Since(start) != 0 {
			t.Error("a small document waited for large ones")
		}
		finished := false
		go func() {
			validate(`{ publicTimeline { ` + strings.Repeat("liveCursor ", 3*smallDocument) + `} }`)
			finished = true
		}()
		synctest.Wait()
		if finished {
			t.Error("a document was validated beside as many as may be")
		}
		for _, done := range ends {
			done()
		}
		synctest.Wait()
		if !finished {
			t.Error("a document was not validated after them")
		}
	})
}

// Attack: two accounts subscribed to the same large selections, so that all of them were rendered at once for each post, with all that Redis
// and the processors could do.
func TestRenderFor_WaitsForTheShareOfSharedEvents(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]bool{"for one client": true, "for several clients": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAPI(Options{})
				op, event := a.publicEvent(t)
				client, holder, other := ratelimit.Client{User: 1}, cost.ForSeveral(), ratelimit.Client{User: 1}
				if alone {
					holder, other = client, cost.ForSeveral()
				}
				for _, occupied := range []ratelimit.Client{other, holder} {
					done, err := a.executor.shares.Run(t.Context(), occupied, 1<<20)
					if err != nil {
						t.Fatal(err)
					}
					rendered := false
					go func() {
						response, err := a.executor.RenderFor(t.Context(), op, event, client, holder)
						rendered = err == nil && len(response.Errors) == 0
					}()
					synctest.Wait()
					if rendered != (occupied == other) {
						t.Errorf("while %v uses its share, the event is rendered: %v", occupied, rendered)
					}
					done()
					synctest.Wait()
					if !rendered {
						t.Errorf("after %v used its share, the event is not rendered", occupied)
					}
				}
			})
		})
	}
}

// publicEvent returns a subscription to the public timeline, and an event for it.
func (a *api) publicEvent(t *testing.T) (*graphql.OperationContext, retwis.Event) {
	t.Helper()
	op, errs := a.executor.CreateOperationContext(graphql.StartOperationTrace(t.Context()), &graphql.RawParams{
		Query:     `subscription($id: ID) { timelineEvents(timelineId: $id) { __typename } }`,
		Variables: map[string]any{"id": globalTimelineID(retwis.Public())},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return op, &retwis.PostAdded{Edge: retwis.PostEdge{Cursor: "c", Post: a.addPost(a.addUser("alice"), "text")}}
}

// Attack: an event of many selections was rendered for hundreds of groups at the same moment, on all cores.
func TestRenderFor_TakesATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		op, event := a.publicEvent(t)
		here, there := ratelimit.Client{Address: netip.MustParseAddr("192.0.2.1")}, ratelimit.Client{Address: netip.MustParseAddr("198.51.100.1")}
		var turns []*cost.Turn
		for range max(1, runtime.GOMAXPROCS(0)/2) {
			turns = append(turns, a.executor.shares.Decode(t.Context(), here))
		}
		var rendered [2]bool
		for i, holder := range []ratelimit.Client{here, there} {
			go func() {
				response, err := a.executor.RenderFor(t.Context(), op, event, holder, holder)
				rendered[i] = err == nil && len(response.Errors) == 0
			}()
		}
		synctest.Wait()
		if rendered[0] || !rendered[1] {
			t.Errorf("while one network has its turns, its event is rendered: %t, and that of another: %t", rendered[0], rendered[1])
		}
		for _, turn := range turns {
			turn.End()
		}
		synctest.Wait()
		if !rendered[0] {
			t.Error("the event is not rendered after the turns")
		}
	})
}

// Attack: operations that had been admitted together, and waited, each made a plan of 2000 points for a price of 12, long after the budget was
// used up. Such a plan took 20 ms, beside those of others.
func TestOperations_ThatHaveWaitedStopWithoutBudget(t *testing.T) {
	t.Parallel()
	const subscription = `subscription($id: ID) { timelineEvents(timelineId: $id) { __typename } }`
	large := func(query string) string { // so that its plan waits
		return strings.Replace(query, "} }", strings.Repeat("__typename ", 100)+"} }", 1)
	}
	for name, tt := range map[string]struct {
		query    string
		occupied func(context.Context, *cost.Shares, ratelimit.Client) (done func(), err error)
	}{
		"a query":                    {`{ publicTimeline { kind } }`, occupyAll},
		"a mutation":                 {`mutation { logout { __typename } }`, occupyAll},
		"a subscription":             {subscription, occupyAll},
		"a query with a plan":        {large(`{ publicTimeline { kind } }`), validate},
		"a mutation with a plan":     {large(`mutation { logout { __typename } }`), validate},
		"a subscription with a plan": {large(subscription), validate},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAPI(Options{})
				limited := &budget{left: 1 << 20}
				a.executor.limiter = limited
				ctx := auth.WithIdentity(graphql.StartOperationTrace(t.Context()), auth.Identity{User: 1})
				op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{
					Query: tt.query, Variables: map[string]any{"id": globalTimelineID(retwis.Public())},
				})
				if len(errs) > 0 {
					t.Fatal(errs)
				}
				done, err := tt.occupied(t.Context(), a.executor.shares, ratelimit.Client{User: 1})
				if err != nil {
					t.Fatal(err)
				}
				var response *graphql.Response
				go func() {
					if strings.HasPrefix(tt.query, "subscription") {
						_, errs := a.executor.Subscribe(ctx, op)
						response = &graphql.Response{Errors: errs}
						return
					}
					responses, ctx := a.executor.DispatchOperation(ctx, op)
					response = responses(ctx)
				}()
				synctest.Wait()
				if response != nil {
					t.Fatalf("the operation did not wait: %v", response)
				}
				limited.left = -1
				done()
				synctest.Wait()
				wantError(t, response, "RATE_LIMITED")
				if len(response.Data) > 0 && string(response.Data) != "null" {
					t.Errorf("got data: %s", response.Data)
				}
			})
		})
	}
}

// occupyAll uses the whole share of a client.
func occupyAll(ctx context.Context, s *cost.Shares, client ratelimit.Client) (done func(), err error) {
	return s.Run(ctx, client, 1<<20)
}

// validate validates a document of a client.
func validate(ctx context.Context, s *cost.Shares, client ratelimit.Client) (done func(), err error) {
	return s.Validate(ctx, client)
}
