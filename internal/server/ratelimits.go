package server

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// policy is the header that says what may be read, which is the same for all.
type policy struct {
	rate   retwis.Rate
	header []string
}

// tellAllowance returns what writes into a header how much its reader may still read, as
// the draft "RateLimit header fields for HTTP" has it: the policy is a quota for a window
// of seconds, and what follows is what remains of it, and when all of it is there again.
func (s *Server) tellAllowance(h http.Header) func(retwis.Allowance) {
	return func(left retwis.Allowance) {
		p := s.policy.Load()
		if p == nil || p.rate != left.Rate {
			p = &policy{left.Rate, []string{fmt.Sprintf(`"reads";q=%d;w=%d`, left.Rate.Limit, seconds(left.Rate.Period))}}
			s.policy.Store(p)
		}
		h["Ratelimit-Policy"] = p.header
		b := append(make([]byte, 0, 40), `"reads";r=`...)
		b = strconv.AppendInt(b, int64(left.Left), 10)
		b = append(b, ";t="...)
		b = strconv.AppendInt(b, int64(seconds(left.Full)), 10)
		h["Ratelimit"] = []string{string(b)}
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
