package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/server/operation"
)

// knowing is an executor that knows one document.
type knowing struct {
	operation.Executor
	refusal error
}

func (knowing) Knows(params *graphql.RawParams) bool { return params.Query == "{known}" }

func (knowing) Prepare(context.Context, *graphql.RawParams, bool) (*graphql.OperationContext, ratelimit.Budget, gqlerror.List) {
	return nil, ratelimit.Budget{}, nil
}

func (knowing) Spend(context.Context, int) {}

func (k knowing) Check(ratelimit.Client) error { return k.refusal }

// Attack: users of one network sent documents over HTTP that were new each time. To parse and validate them took up to a millisecond, after the turns of
// their headers, so that the network used both cores.
func TestPrepare_TakesATurnForNewDocuments(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		document string
		read     int
		refusal  error
		waits    bool
	}{
		"new":                  {"{new}", 100, nil, true},
		"only its hash":        {"", 100, nil, true},
		"known":                {"{known}", 100, nil, false},
		"known with variables": {"{known}", cost.FreeBytes + 1, nil, true},
		"refused":              {"{new}", 100, errors.New("no budget"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			runner := &operation.Runner{RunnerOptions: operation.RunnerOptions{Executor: knowing{refusal: tt.refusal}}}
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
