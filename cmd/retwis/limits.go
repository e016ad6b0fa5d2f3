package main

import (
	"fmt"

	"retwis/internal/ratelimit"
)

// limitSettings are how much clients may do.
type limitSettings struct {
	RateLimits         string `env:"RETWIS_RATE_LIMITS" enum:"on,off" default:"on" placeholder:"on|off" help:"Whether clients are limited; off lifts all limits below, and those of websockets and of subscriptions: 1000 of one user, 10000 of those without an account in one network."`
	LimitReads         rate   `env:"RETWIS_LIMIT_READS" default:"120000/1m" placeholder:"RATE" help:"Cost of operations of a user, or of those without an account in one network: so much at once, and so much again in that time; off for no limit."`
	LimitPosts         rate   `env:"RETWIS_LIMIT_POSTS" default:"60/1m" placeholder:"RATE" help:"Posts of a user."`
	LimitFollows       rate   `env:"RETWIS_LIMIT_FOLLOWS" default:"120/1m" placeholder:"RATE" help:"Follows of a user, made or ended, and members put on lists or taken off."`
	LimitLogins        rate   `env:"RETWIS_LIMIT_LOGINS" default:"10/1m" placeholder:"RATE" help:"Passwords tried from a network, and for a name from networks that it has not logged in from."`
	LimitRegistrations rate   `env:"RETWIS_LIMIT_REGISTRATIONS" default:"5/1h" placeholder:"RATE" help:"Accounts made from a network."`
}

// rate is a rate as a flag has it. Its form is checked once all flags are read, where the
// name of the flag is known.
type rate string

func (s limitSettings) check() error {
	for _, limit := range []struct {
		flag  string
		value rate
	}{
		{"limit-reads", s.LimitReads},
		{"limit-posts", s.LimitPosts},
		{"limit-follows", s.LimitFollows},
		{"limit-logins", s.LimitLogins},
		{"limit-registrations", s.LimitRegistrations},
	} {
		if _, err := ratelimit.ParseRate(string(limit.value)); err != nil {
			return fmt.Errorf("--%s (%s): %w", limit.flag, variableOf(limit.flag), err)
		}
	}
	return nil
}

// rates returns rates that were checked.
func (s limitSettings) rates() ratelimit.Policies {
	if s.RateLimits == "off" {
		return ratelimit.Policies{}
	}
	return ratelimit.Policies{
		Reads:         s.LimitReads.parsed(),
		Posts:         s.LimitPosts.parsed(),
		Follows:       s.LimitFollows.parsed(),
		Logins:        s.LimitLogins.parsed(),
		Registrations: s.LimitRegistrations.parsed(),
	}
}

func (r rate) parsed() ratelimit.Rate {
	parsed, _ := ratelimit.ParseRate(string(r)) // was checked
	return parsed
}
