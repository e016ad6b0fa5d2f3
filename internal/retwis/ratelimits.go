package retwis

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Action is something that clients may do so often only.
type Action string

// The actions that are limited, each by a budget of its own.
const (
	ToRead     Action = "reads"         // by the cost of operations
	ToPost     Action = "posts"         // by posts made
	ToFollow   Action = "follows"       // by follows, and members of lists, made and ended
	ToLogIn    Action = "logins"        // by passwords looked at
	ToRegister Action = "registrations" // by accounts made
)

// Rate is how often something may be done: Limit times at once, and then as often again in
// every Period. The zero rate has no limit.
type Rate struct {
	Limit  int
	Period time.Duration
}

// Bounds of rates: within these the microseconds of Redis are exact, in doubles too.
const (
	maxRateLimit  = 10_000_000
	minRatePeriod = time.Second
	maxRatePeriod = 24 * time.Hour
)

// ParseRate reads a rate like 10/1m or 5/1h, or "off" for one without a limit.
func ParseRate(text string) (Rate, error) {
	if text == "off" {
		return Rate{}, nil
	}
	count, period, ok := strings.Cut(text, "/")
	limit, err := strconv.Atoi(count)
	if !ok || err != nil || limit < 1 || limit > maxRateLimit {
		return Rate{}, fmt.Errorf("%q is no rate: give one like 10/1m, with a count from 1 to %d, or off", text, maxRateLimit)
	}
	if period != "" && (period[0] < '0' || period[0] > '9') {
		period = "1" + period // per minute is 1m
	}
	length, err := time.ParseDuration(period)
	if err != nil || length < minRatePeriod || length > maxRatePeriod {
		return Rate{}, fmt.Errorf("%q is no rate: give one like 10/1m, with a time from %s to %s, or off", text, minRatePeriod, maxRatePeriod)
	}
	return Rate{limit, length}, nil
}

// Limits reports whether the rate is one.
func (r Rate) Limits() bool { return r.Limit > 0 }

// Time returns how long it takes to win back n, at most the limit, rounded down: the sum
// over a whole budget does not exceed the period.
func (r Rate) Time(n int) time.Duration {
	return time.Duration(proportion(int64(n), int64(r.Period), int64(r.Limit)))
}

// Left returns how much of the budget is left when it takes so long to win all of it back.
func (r Rate) Left(used time.Duration) int {
	return int(proportion(int64(max(r.Period-used, 0)), int64(r.Limit), int64(r.Period)))
}

// proportion returns a*b/c for numbers of 0 or more, where a*b may be too large and the
// result is not.
func proportion(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	quotient, _ := bits.Div64(high, low, uint64(c))
	return int64(quotient)
}

// ActionRate is how often an action may be done.
type ActionRate struct {
	Action Action
	Rate   Rate
}

// Holder is who has budgets: a user, a network of addresses, or a username, folded, that
// somebody tries to log in with. One field is set.
type Holder struct {
	User    UserID
	Network netip.Prefix
	Name    string
}

// NetworkOf returns the addresses that are counted as one: those of IPv6 by the /64 that
// a single household has.
func NetworkOf(address netip.Addr) netip.Prefix {
	switch {
	case !address.IsValid(): // all of those are counted as one
		return netip.PrefixFrom(netip.IPv4Unspecified(), 32)
	case address.Is6():
		return netip.PrefixFrom(address, 64).Masked()
	default:
		return netip.PrefixFrom(address, 32)
	}
}

// Client is who asks for something. An anonymous one is told by where it is.
type Client struct {
	User    UserID // 0 for nobody
	Address netip.Addr
}

// Holder returns under whom a client's reads are counted.
func (c Client) Holder() Holder {
	if c.User != 0 {
		return Holder{User: c.User}
	}
	return Holder{Network: NetworkOf(c.Address)}
}

// Demand is what an operation is about to do.
type Demand struct {
	Cost          int // of what it reads, at least 1
	Posts         int
	Follows       int
	Registrations int
	Passwords     int      // of the client's own account, looked at
	Logins        []string // names, as they were given, that somebody wants to log in with
}

// Charge is something to be counted.
type Charge struct {
	Action Action
	Who    Holder
	Rate   Rate          // has a limit
	Time   time.Duration // what it takes of the budget; below zero it is given back
	Done   bool          // it has happened already, so it is counted above the limit too

	// Familiar is a network from which the name in Who is known to have logged in is not
	// counted against that name: others could lock its owner out.
	Familiar netip.Prefix
}

// Balance is what came of a charge.
type Balance struct {
	Refused bool          // there was not enough left; nothing was counted
	Unknown bool          // it could not be counted, or nobody knows whether it was
	Used    time.Duration // how long it takes until the whole budget is there again
}

// Allowance is how much a client may still read.
type Allowance struct {
	Rate Rate
	Left int
	Full time.Duration // until all of it is there again
}

// TooMany is the failure of an action that was refused, for that long.
func TooMany(action Action, wait time.Duration) *Error {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	what := "you have done this too often"
	switch action {
	case ToRead:
		what = "you have asked for too much"
	case ToPost:
		what = "you have posted too often"
	case ToFollow:
		what = "you have followed or unfollowed too often"
	case ToLogIn:
		what = "there were too many attempts to log in"
	case ToRegister:
		what = "too many accounts were made from here"
	}
	err := Errorf(CodeRateLimited, "%s: try again %s", what, inWords(seconds))
	err.RetryAfterSeconds = seconds
	return err
}

func inWords(seconds int) string {
	switch {
	case seconds == 1:
		return "in a second"
	case seconds < 120:
		return fmt.Sprintf("in %d seconds", seconds)
	default:
		return fmt.Sprintf("in %d minutes", (seconds+59)/60)
	}
}

// ErrLimitsUnknown is the failure of an action that is not done while nobody can tell how
// often it was.
var ErrLimitsUnknown = errors.New("the rate limits cannot be read")

type allowanceKey struct{}

// WithAllowance returns a context in which [TellAllowance] calls tell. A transport that can
// tell its clients puts it around an operation.
func WithAllowance(ctx context.Context, tell func(Allowance)) context.Context {
	return context.WithValue(ctx, allowanceKey{}, tell)
}

// TellAllowance tells the transport how much its client may still read.
func TellAllowance(ctx context.Context, left Allowance) {
	if tell, ok := ctx.Value(allowanceKey{}).(func(Allowance)); ok {
		tell(left)
	}
}

type queriesKey struct{}

// WithQueriesOnly returns a context of a request that may only read, by the rules of its
// transport. Nothing else is counted, as it is not going to be done.
func WithQueriesOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, queriesKey{}, true)
}

// QueriesOnly reports whether a request may only read.
func QueriesOnly(ctx context.Context) bool { return ctx.Value(queriesKey{}) != nil }
