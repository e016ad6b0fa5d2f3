package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/graph/limits"
	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
)

// Attack: 4370 operations that waited on websockets each kept a variable of 250 KB. They took 1.7 GB within 12 s, and nobody paid.
func TestRetained_BoundsTheValuesOfOperationsThatWait(t *testing.T) {
	t.Parallel()
	const bound = 1 << 20
	text := strings.Repeat("x", bound/8)
	for name, tt := range map[string]struct {
		params graphql.RawParams
		most   int32 // operations that may wait
	}{
		"variables":            {graphql.RawParams{Query: `query($id: ID!) { node(id: $id) { id } }`, Variables: map[string]any{"id": text}}, 7},
		"undeclared variables": {graphql.RawParams{Query: `{ publicTimeline { kind } }`, Variables: map[string]any{"x": text}}, 7},
		"extensions":           {graphql.RawParams{Query: `{ publicTimeline { kind } }`, Extensions: map[string]any{"x": text}}, 7},
		"comments":             {graphql.RawParams{Query: `{ publicTimeline { kind } } #` + text[:bound/40]}, 39},
		"subscriptions":        {graphql.RawParams{Query: `subscription { timelineEvents { __typename } }`, Extensions: map[string]any{"x": text}}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAPI(Options{})
				shares := a.executor.shares
				shares.Values = cost.NewGates(4*bound, bound)
				ctx := auth.WithIdentity(graphql.StartOperationTrace(t.Context()), auth.Identity{User: 1})
				done, err := occupyAll(t.Context(), shares, ratelimit.Client{User: 1})
				if err != nil {
					t.Fatal(err)
				}
				var waiting, refused atomic.Int32
				for range tt.most + 2 {
					params := tt.params
					waiting.Add(1)
					go func() {
						op, errs := a.executor.CreateOperationContext(ctx, &params)
						if len(errs) == 0 {
							errs = a.execute(ctx, op)
						}
						if len(errs) > 0 && (errors.Is(errs[0], errRateLimited) || errs[0].Extensions["code"] == "RATE_LIMITED") {
							refused.Add(1)
						}
						waiting.Add(-1)
					}()
					synctest.Wait()
				}
				if waiting.Load() != tt.most || refused.Load() != 2 {
					t.Errorf("%d operations wait and %d are refused, want %d and 2", waiting.Load(), refused.Load(), tt.most)
				}
				other := auth.WithIdentity(graphql.StartOperationTrace(t.Context()), auth.Identity{User: 2})
				params := tt.params
				if _, errs := a.executor.CreateOperationContext(other, &params); len(errs) > 0 {
					t.Errorf("an operation of another client: %v", errs)
				}
				done()
				synctest.Wait()
				if used := shares.Values.Used(); waiting.Load() != 0 || used != 0 {
					t.Errorf("%d operations have not ended, and %d bytes are still counted", waiting.Load(), used)
				}
			})
		})
	}
}

// Attack: refusals wait, up to minutes. Those of clients without budget kept what they had sent, and thousands waited.
func TestRetained_RefusalsThatWaitKeepNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		a.executor.limiter = slow{&budget{left: -1}}
		params := graphql.RawParams{Query: `{ publicTimeline { kind } }`, Variables: map[string]any{"x": "y"}}
		var refused atomic.Bool
		go func() {
			_, _, errs := a.executor.Prepare(graphql.StartOperationTrace(t.Context()), &params, false)
			if len(errs) == 0 || !errors.Is(errs[0], errRateLimited) {
				t.Errorf("got %v", errs)
			}
			refused.Store(true)
		}()
		synctest.Wait()
		if used := a.executor.shares.Values.Used(); refused.Load() || used != 0 || params.Query != "" || params.Variables != nil {
			t.Errorf("refused at once: %t; %d bytes are counted, and %v is kept", refused.Load(), used, params)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !refused.Load() {
			t.Error("not refused")
		}
	})
}

// A mutation that has changed something has its response, although other operations of its client keep all that it may keep. Clients would try again.
func TestRetained_MutationsAreCarriedOutAndAnswered(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	author := a.addUser("alice")
	for range 100 {
		a.addPost(author, "x")
	}
	const bound = 1 << 20
	a.executor.shares.Values = cost.NewGates(4*bound, bound)
	release, ok := a.executor.shares.Keep(ratelimit.Client{User: author.ID}, bound-100_000)
	if !ok {
		t.Fatal("no room")
	}
	defer release()
	authors := ""
	for i := range 30 {
		authors += fmt.Sprintf("a%d: author { id } ", i)
	}
	posts := `posts(first: 100) { edges { node { ` + authors + ` } } }`
	ctx := auth.WithIdentity(t.Context(), auth.Identity{User: author.ID})
	wantError(t, a.run(ctx, `{ user(username: "alice") { timeline { `+posts+` } } }`, ""), "RATE_LIMITED")
	if response := a.run(ctx, `mutation { createPost(input: {text: "once"}) { edge { node { author { timeline { `+posts+` } } } } } }`, ""); len(response.Errors) > 0 {
		t.Errorf("got %v", response.Errors)
	}
}

// Attack: users with biographies of 6 KB followed each other, and each read pages of them: 3.3 GB for 500 users.
func TestRetained_CountsTheTextsOfPages(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	followed := a.addUser("followed")
	for i := range 100 {
		follower := a.addUser(fmt.Sprint("user", i))
		follower.Bio = strings.Repeat("x", 6000)
		a.follows = append(a.follows, follow{reader: follower.ID, author: followed.ID, at: newYear})
	}
	const bound = 1 << 20
	a.executor.shares.Values = cost.NewGates(4*bound, bound)
	pages := func(n int) string {
		query := ""
		for i := range n {
			query += fmt.Sprintf("f%d: followers(first: %d) { __typename } ", i, 100-i)
		}
		return `{ user(username: "followed") { ` + query + ` } }`
	}
	if response := a.run(t.Context(), pages(1), ""); len(response.Errors) > 0 {
		t.Errorf("one page: %v", response.Errors)
	}
	wantError(t, a.run(t.Context(), pages(3), ""), "RATE_LIMITED")
	ids := ""
	for _, user := range a.users[:100] {
		ids += fmt.Sprintf("%q ", globalUserID(user.ID))
	}
	wantError(t, a.run(t.Context(), `{ user(username: "followed") { followers(first: 100) { __typename } } nodes(ids: [`+ids+`]) { id ... on User { viewerFollows } } }`, ""), "RATE_LIMITED")
	if used := a.executor.shares.Values.Used(); used != 0 {
		t.Errorf("%d bytes still count", used)
	}
}

// slow is a limiter that delays refusals.
type slow struct{ limits.Limiter }

func (slow) Delay(ratelimit.Client) time.Duration { return time.Second }

// execute executes a query, or begins a subscription. It returns the errors.
func (a *api) execute(ctx context.Context, op *graphql.OperationContext) gqlerror.List {
	if op.Operation.Operation == ast.Subscription {
		source, errs := a.executor.Subscribe(ctx, op)
		if source != nil {
			ended, end := context.WithCancel(ctx)
			end()
			_ = source(ended, "", nil)
		}
		return errs
	}
	responses, ctx := a.executor.DispatchOperation(ctx, op)
	if response := responses(ctx); response != nil {
		return response.Errors
	}
	return nil // ctx is done
}

// Attack: each of 20 000 subscriptions selected one field of a document of its own, which was as long as possible: the rest belonged to another operation.
func TestRetained_SizeOfASubscriptionIncludesItsDocument(t *testing.T) {
	t.Parallel()
	const subscription = `subscription A { timelineEvents { __typename } }`
	a := newAPI(Options{})
	sizeOf := func(params graphql.RawParams) int {
		t.Helper()
		params.OperationName = "A"
		op, errs := a.executor.CreateOperationContext(graphql.StartOperationTrace(t.Context()), &params)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		_, size, _ := a.executor.RenderGroup(op)
		return size
	}
	small := sizeOf(graphql.RawParams{Query: subscription})
	for name, params := range map[string]graphql.RawParams{
		"another operation": {Query: subscription + ` query B { node(id: "` + strings.Repeat("x", 1000) + `") { id } }`},
		"a comment":         {Query: subscription + ` # ` + strings.Repeat("x", 30_000)},
		"an extension":      {Query: subscription, Extensions: map[string]any{"x": strings.Repeat("x", 200_000)}},
	} {
		if size := sizeOf(params); size < small+1000 {
			t.Errorf("with %s, the size is %d, without it %d", name, size, small)
		}
	}
}
