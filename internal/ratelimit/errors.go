package ratelimit

import (
	"fmt"
	"time"

	"retwis/internal/retwis"
)

// ErrUnavailable is the error of actions that are refused because the shared budgets cannot
// be read. Clients see UNAVAILABLE.
var ErrUnavailable = fmt.Errorf("the rate limits cannot be read: %w", retwis.Unavailable(1))

// Exceeded returns the RATE_LIMITED error of an action that may be tried again after wait.
func Exceeded(action Action, wait time.Duration) *retwis.Error {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	reason := "you are doing this too often"
	switch action {
	case Reads:
		reason = "too many requests"
	case Posts:
		reason = "you are posting too often"
	case Likes:
		reason = "you are liking posts too often"
	case Follows:
		reason = "you are following or unfollowing too often"
	case Logins:
		reason = "too many login attempts"
	case Registrations:
		reason = "too many accounts were registered from your network"
	}
	err := retwis.Errorf(retwis.CodeRateLimited, "%s: try again %s", reason, inWords(seconds))
	err.RetryAfterSeconds = seconds
	return err
}

func inWords(seconds int) string {
	switch {
	case seconds == 1:
		return "in 1 second"
	case seconds < 120:
		return fmt.Sprintf("in %d seconds", seconds)
	default:
		return fmt.Sprintf("in %d minutes", (seconds+59)/60)
	}
}
