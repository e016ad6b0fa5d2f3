package ratelimit

import (
	"context"
	"net/netip"
	"time"
)

// Store keeps the budgets that all processes share.
type Store interface {
	// Spend takes the cost of each request from its budget, and answers in the order of
	// the requests. The error says why results are unknown.
	Spend(ctx context.Context, requests ...Request) ([]Result, error)
	// RememberNetwork records that a client has logged in with a username from a network.
	RememberNetwork(ctx context.Context, name string, from netip.Prefix) error
}

// Request asks for the cost of one action from a shared budget.
type Request struct {
	Action Action
	Key    Key
	Rate   Rate          // has a limit
	Cost   time.Duration // in time to replenish; below zero it is given back
	Done   bool          // the action has happened already: it is counted above the limit too

	// Familiar is the network of a login attempt. If the username in Key has logged in from
	// it before, the attempt does not count against the username: others could lock its
	// owner out otherwise.
	Familiar netip.Prefix
}

// Result is the result of a [Request].
type Result struct {
	Refused bool          // the budget was too small; nothing was counted
	Unknown bool          // the request failed; it may have been counted
	Used    time.Duration // time until the whole budget is replenished
}
