package server

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// tellAllowance returns what writes into a header how much its reader may still read, as
// the draft "RateLimit header fields for HTTP" has it: the policy is a quota for a window
// of seconds, and what follows is what remains of it, and when all of it is there again.
func tellAllowance(h http.Header) func(retwis.Allowance) {
	return func(left retwis.Allowance) {
		h["Ratelimit-Policy"] = []string{fmt.Sprintf(`"reads";q=%d;w=%d`, left.Rate.Limit, seconds(left.Rate.Period))}
		h["Ratelimit"] = []string{fmt.Sprintf(`"reads";r=%d;t=%d`, left.Left, seconds(left.Full))}
	}
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
