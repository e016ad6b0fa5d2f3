package httpapi

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/server/operation"
)

// knowing is an executor that knows one document.
type knowing struct{ operation.Executor }

func (knowing) Knows(document string) bool { return document == "{known}" }

func (knowing) Prepare(context.Context, *graphql.RawParams, bool) (*graphql.OperationContext, ratelimit.Budget, gqlerror.List) {
	return nil, ratelimit.Budget{}, nil
}

func (knowing) Spend(context.Context, int) {}

// Attack: users of one network sent documents over HTTP that were new each time. To parse and validate them took up to a millisecond, after the turns of
// their headers, so that the network used both cores.
func TestPrepare_TakesATurnForNewDocuments(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		document string
		read     int
		waits    bool
	}{
		"new":                  {"{new}", 100, true},
		"known":                {"{known}", 100, false},
		"known with variables": {"{known}", cost.FreeBytes + 1, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			runner := &operation.Runner{RunnerOptions: operation.RunnerOptions{Executor: knowing{}}}
			x, _ := exchange(t.Context(), New(Options{Shares: cost.NewShares(), Runner: runner}))
			x.read = tt.read
			end := occupyTurns(t, x)
			prepared := make(chan struct{})
			go func() {
				defer close(prepared)
				x.Prepare(t.Context(), &graphql.RawParams{Query: tt.document})
			}()
			synctest.Wait()
			select {
			case <-prepared:
				if tt.waits {
					t.Errorf("%s: the operation was prepared without a turn", name)
				}
			default:
				if !tt.waits {
					t.Errorf("%s: the operation waits for a turn", name)
				}
			}
			end()
			<-prepared
		})
	}
}
