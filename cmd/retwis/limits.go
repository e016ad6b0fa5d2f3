package main

import (
	"fmt"

	"retwis/internal/ratelimit"
)

// limitSettings are the rate limits of clients.
type limitSettings struct {
	RateLimits         string `env:"RETWIS_RATE_LIMITS" enum:"on,off" default:"on" placeholder:"on|off" help:"Switch the limits of clients on or off: the limits below, and those of websockets and subscriptions, of which a user may have 1000 each, and a network 10000 and 20000."`
	LimitReads         rate   `env:"RETWIS_LIMIT_READS" default:"120000/1m" placeholder:"RATE" help:"Rate limit of the cost of operations, per user, or per network for clients without a login: the burst, and the time in which it is available again. off disables a limit."`
	LimitPosts         rate   `env:"RETWIS_LIMIT_POSTS" default:"60/1m" placeholder:"RATE" help:"Rate limit of posts, per user."`
	LimitLikes         rate   `env:"RETWIS_LIMIT_LIKES" default:"300/1m" placeholder:"RATE" help:"Rate limit of likes added or removed, per user."`
	LimitFollows       rate   `env:"RETWIS_LIMIT_FOLLOWS" default:"120/1m" placeholder:"RATE" help:"Rate limit of follows, unfollows, and changes of list members, per user."`
	LimitLogins        rate   `env:"RETWIS_LIMIT_LOGINS" default:"10/1m" placeholder:"RATE" help:"Rate limit of password attempts, per network, and per username from networks that the user has not logged in from."`
	LimitRegistrations rate   `env:"RETWIS_LIMIT_REGISTRATIONS" default:"5/1h" placeholder:"RATE" help:"Rate limit of registrations, per network."`
	LimitConnections   int    `env:"RETWIS_LIMIT_CONNECTIONS" default:"1000" placeholder:"N" help:"Open HTTP connections per network, without websockets. Behind trusted proxies, running requests per network of the client."`
}

// rate is the text of a rate. Its format is checked when all flags are read, because the error needs
// the name of the flag.
type rate string

func (s limitSettings) check() error {
	for _, limit := range []struct {
		flag  string
		value rate
	}{
		{"limit-reads", s.LimitReads},
		{"limit-posts", s.LimitPosts},
		{"limit-likes", s.LimitLikes},
		{"limit-follows", s.LimitFollows},
		{"limit-logins", s.LimitLogins},
		{"limit-registrations", s.LimitRegistrations},
	} {
		if _, err := ratelimit.ParseRate(string(limit.value)); err != nil {
			return fmt.Errorf("--%s (%s): %w", limit.flag, variableOf(limit.flag), err)
		}
	}
	if s.LimitConnections < 1 {
		return fmt.Errorf("--limit-connections (%s) is %d: choose at least 1", variableOf("limit-connections"), s.LimitConnections)
	}
	return nil
}

// off reports whether clients have no limits.
func (s limitSettings) off() bool { return s.RateLimits == "off" }

// rates returns the rates. Their format has been checked.
func (s limitSettings) rates() ratelimit.Policies {
	if s.off() {
		return ratelimit.Policies{}
	}
	return ratelimit.Policies{
		Reads:         s.LimitReads.parsed(),
		Posts:         s.LimitPosts.parsed(),
		Likes:         s.LimitLikes.parsed(),
		Follows:       s.LimitFollows.parsed(),
		Logins:        s.LimitLogins.parsed(),
		Registrations: s.LimitRegistrations.parsed(),
	}
}

func (r rate) parsed() ratelimit.Rate {
	parsed, _ := ratelimit.ParseRate(string(r)) // check has accepted it
	return parsed
}
