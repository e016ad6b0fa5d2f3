package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/ratelimit"
)

// setRateLimits sets the headers of the draft "RateLimit header fields for HTTP".
// RateLimit-Policy lists the quota of each action and its window in seconds. RateLimit
// reports the remaining budget of reads, and the seconds until it is full again.
func (a *API) setRateLimits(h http.Header, budget ratelimit.Budget) {
	if a.policies != nil {
		h["Ratelimit-Policy"] = a.policies
	}
	if !budget.Rate.Limited() {
		return
	}
	b := append(make([]byte, 0, 40), `"reads";r=`...)
	b = strconv.AppendInt(b, int64(budget.Remaining), 10)
	b = append(b, ";t="...)
	b = strconv.AppendInt(b, int64(seconds(budget.Reset)), 10)
	h["Ratelimit"] = []string{string(b)}
}

// policyHeader returns the values of RateLimit-Policy, nil if nothing is limited.
func policyHeader(policies []ratelimit.Policy) []string {
	var all []string
	for _, p := range policies {
		if p.Rate.Limited() {
			all = append(all, fmt.Sprintf("%q;q=%d;w=%d", p.Action, p.Rate.Limit, seconds(p.Rate.Period)))
		}
	}
	if all == nil {
		return nil
	}
	return []string{strings.Join(all, ", ")}
}

// seconds returns a duration in seconds, rounded up.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// retryAfter returns the longest wait that the errors ask for.
func retryAfter(errs gqlerror.List) string {
	wait := 1
	for _, err := range errs {
		if after, ok := err.Extensions["retryAfter"].(int); ok {
			wait = max(wait, after)
		}
	}
	return strconv.Itoa(wait)
}
