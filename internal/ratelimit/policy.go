package ratelimit

import "time"

// Action is something that clients may do a limited number of times.
type Action string

// The limited actions. Each has a budget of its own.
const (
	Reads         Action = "reads"         // by the cost of operations
	Posts         Action = "posts"         // by posts created
	Likes         Action = "likes"         // by likes added or removed
	Follows       Action = "follows"       // by follows and list members, added or removed
	Logins        Action = "logins"        // by passwords checked
	Registrations Action = "registrations" // by accounts created
)

// Policy is the rate of an action.
type Policy struct {
	Action Action
	Rate   Rate
}

// Policies are the rates of all actions. The zero rate has no limit.
type Policies struct {
	Reads         Rate // cost of operations, per user, or per network for anonymous clients
	Posts         Rate // per user
	Likes         Rate // per user
	Follows       Rate // per user, list members included
	Logins        Rate // passwords tried, per network and per username
	Registrations Rate // per network
}

// List returns the policies of all actions.
func (p Policies) List() []Policy {
	return []Policy{
		{Reads, p.Reads},
		{Posts, p.Posts},
		{Likes, p.Likes},
		{Follows, p.Follows},
		{Logins, p.Logins},
		{Registrations, p.Registrations},
	}
}

// DefaultPolicies returns policies that do not limit anything a person does by hand.
func DefaultPolicies() Policies {
	return Policies{
		Reads:         Rate{Limit: 120_000, Period: time.Minute},
		Posts:         Rate{Limit: 60, Period: time.Minute},
		Likes:         Rate{Limit: 300, Period: time.Minute},
		Follows:       Rate{Limit: 120, Period: time.Minute},
		Logins:        Rate{Limit: 10, Period: time.Minute},
		Registrations: Rate{Limit: 5, Period: time.Hour},
	}
}
