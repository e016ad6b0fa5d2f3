package graph

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
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
		"the parsing of a document": {query, func(a *api, ctx context.Context) {
			ctx = graphql.StartOperationTrace(ctx)
			_, _ = a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: `{ publicTimeline { liveCursor } }`})
		}},
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
