package ratelimit

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRate_AcceptsCountAndPeriod(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Rate{
		"10/1m":       {10, time.Minute},
		"10/m":        {10, time.Minute},
		"5/1h30m":     {5, 90 * time.Minute},
		"10000000/1s": {10_000_000, time.Second},
		"1/24h":       {1, 24 * time.Hour},
		"off":         {},
	} {
		if got, err := ParseRate(text); got != want || err != nil {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "10", "10/", "/1m", "0/1m", "-1/1m", "10000001/1m", "ten/1m", "10/1", "10/day", "10/25h", "10/500ms", "10/-1m", "10/1m/1m", "1e3/1m"} {
		if got, err := ParseRate(text); err == nil || !strings.Contains(err.Error(), "use a form like 10/1m") {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

// For each rate, a whole budget can be taken one by one, and then nothing is left.
func TestRate_IsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := Rate{
			Limit:  rapid.IntRange(1, maxRateLimit).Draw(t, "limit"),
			Period: time.Duration(rapid.Int64Range(int64(minRatePeriod/time.Microsecond), int64(maxRatePeriod/time.Microsecond)).Draw(t, "period")) * time.Microsecond,
		}
		n := rapid.IntRange(0, rate.Limit).Draw(t, "n")
		if used := time.Duration(rate.Limit) * rate.Time(1); used > rate.Period || used < rate.Period*98/100 {
			t.Errorf("%v: taken one by one, the budget takes %s", rate, used)
		}
		if rate.Time(rate.Limit) != rate.Period || rate.Remaining(0) != rate.Limit || rate.Remaining(rate.Period) != 0 || rate.Remaining(2*rate.Period) != 0 {
			t.Errorf("%v: the whole budget takes %s, then %d remain", rate, rate.Time(rate.Limit), rate.Remaining(0))
		}
		if left := rate.Remaining(rate.Time(n)); left < rate.Limit-n || left > rate.Limit-n+1 {
			t.Errorf("%v: %d remain after %d", rate, left, n)
		}
		if budget := 2 * rate.Period.Microseconds(); budget >= 1<<53 {
			t.Errorf("%v: %d µs are not exact as a double", rate, budget)
		}
	})
}

func TestNetworkOf_GroupsAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1":            "192.0.2.1/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::":  "2001:db8:1:2::/64",
		"2001:db8:1:3:3:4:5:6": "2001:db8:1:3::/64",
		"::1":                  "::/64",
	} {
		if got := NetworkOf(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
	if got := NetworkOf(netip.Addr{}); !got.IsValid() {
		t.Error("an invalid address has no network")
	}
	user := Client{User: 7, Address: netip.MustParseAddr("192.0.2.1")}
	if got := user.Key(); got != (Key{User: 7}) {
		t.Errorf("a user is counted as %v", got)
	}
}

func TestExceeded_RoundsTheWait(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		0:                       "try again in 1 second",
		time.Microsecond:        "try again in 1 second",
		1001 * time.Millisecond: "try again in 2 seconds",
		119 * time.Second:       "try again in 119 seconds",
		12 * time.Minute:        "try again in 12 minutes",
		721 * time.Second:       "try again in 13 minutes",
	} {
		err := Exceeded(Posts, wait)
		if !strings.HasSuffix(err.Message, want) || err.RetryAfterSeconds < 1 || time.Duration(err.RetryAfterSeconds)*time.Second < wait {
			t.Errorf("%s: got %q, %d s", wait, err.Message, err.RetryAfterSeconds)
		}
	}
}
