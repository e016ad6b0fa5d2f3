package ratelimit

import (
	"errors"
	"fmt"
	"time"

	"retwis/internal/retwis"
)

// ErrUnavailable is the failure of an action that is refused while the shared budgets
// cannot be read.
var ErrUnavailable = errors.New("the rate limits cannot be read")

// Exceeded returns the RATE_LIMITED error of an action that may be tried again after wait.
func Exceeded(action Action, wait time.Duration) *retwis.Error {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	what := "you have done this too often"
	switch action {
	case Reads:
		what = "you have asked for too much"
	case Posts:
		what = "you have posted too often"
	case Follows:
		what = "you have followed or unfollowed too often"
	case Logins:
		what = "there were too many attempts to log in"
	case Registrations:
		what = "too many accounts were made from here"
	}
	err := retwis.Errorf(retwis.CodeRateLimited, "%s: try again %s", what, inWords(seconds))
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
