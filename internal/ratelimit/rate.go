package ratelimit

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Rate is how often something may be done: Limit times at once, and then as often again in
// every Period. The zero rate has no limit.
type Rate struct {
	Limit  int
	Period time.Duration
}

// Bounds of rates. Within these bounds the microseconds in Redis are exact, also as doubles.
const (
	maxRateLimit  = 10_000_000
	minRatePeriod = time.Second
	maxRatePeriod = 24 * time.Hour
)

// ParseRate reads a rate like 10/1m or 5/1h, or "off" for no limit.
func ParseRate(text string) (Rate, error) {
	if text == "off" {
		return Rate{}, nil
	}
	count, period, ok := strings.Cut(text, "/")
	limit, err := strconv.Atoi(count)
	if !ok || err != nil || limit < 1 || limit > maxRateLimit {
		return Rate{}, fmt.Errorf("invalid rate %q: use a form like 10/1m with a count from 1 to %d, or off", text, maxRateLimit)
	}
	if period != "" && (period[0] < '0' || period[0] > '9') {
		period = "1" + period // per minute is 1m
	}
	length, err := time.ParseDuration(period)
	if err != nil || length < minRatePeriod || length > maxRatePeriod {
		return Rate{}, fmt.Errorf("invalid rate %q: use a form like 10/1m with a period from %s to %s, or off", text, minRatePeriod, maxRatePeriod)
	}
	return Rate{limit, length}, nil
}

// Limited reports whether the rate has a limit.
func (r Rate) Limited() bool { return r.Limit > 0 }

// Time returns the time in which n, at most the limit, are replenished, rounded down: the
// sum over a whole budget does not exceed the period.
func (r Rate) Time(n int) time.Duration {
	return time.Duration(proportion(int64(n), int64(r.Period), int64(r.Limit)))
}

// Remaining returns how much of the budget remains if it takes the time used to replenish
// the whole budget.
func (r Rate) Remaining(used time.Duration) int {
	return int(proportion(int64(max(r.Period-used, 0)), int64(r.Limit), int64(r.Period)))
}

// proportion returns a*b/c for non-negative numbers. The product may exceed 64 bits, the
// result may not.
func proportion(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	quotient, _ := bits.Div64(high, low, uint64(c))
	return int64(quotient)
}
