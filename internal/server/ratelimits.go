package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/ratelimit"
)

// withAllowance writes into a header what clients may do, and has whoever carries out an
// operation write there how much its reader may still read, as the draft "RateLimit header
// fields for HTTP" has it: a policy is a quota for a window of seconds, and of the reads
// follows what remains, and when all of it is there again.
func (s *Server) withAllowance(ctx context.Context, h http.Header) context.Context {
	if s.policies != nil {
		h["Ratelimit-Policy"] = s.policies
	}
	return ratelimit.WithBudgetReport(ctx, func(left ratelimit.Budget) {
		b := append(make([]byte, 0, 40), `"reads";r=`...)
		b = strconv.AppendInt(b, int64(left.Remaining), 10)
		b = append(b, ";t="...)
		b = strconv.AppendInt(b, int64(seconds(left.Reset)), 10)
		h["Ratelimit"] = []string{string(b)}
	})
}

// policiesOf is the header about rates, the same one for everybody; nil where nothing has a
// limit.
func policiesOf(rates []ratelimit.Policy) []string {
	var all []string
	for _, r := range rates {
		if r.Rate.Limited() {
			all = append(all, fmt.Sprintf("%q;q=%d;w=%d", r.Action, r.Rate.Limit, seconds(r.Rate.Period)))
		}
	}
	if all == nil {
		return nil
	}
	return []string{strings.Join(all, ", ")}
}

// seconds are those of a time, rounded up.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// retryAfter returns the longest time that one of the errors asks to wait.
func retryAfter(errs gqlerror.List) string {
	wait := 1
	for _, err := range errs {
		if after, ok := err.Extensions["retryAfter"].(int); ok {
			wait = max(wait, after)
		}
	}
	return strconv.Itoa(wait)
}
