package live

import (
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// maxOfUser is the number of subscriptions of one user to one timeline. Each event is handed to all subscribers of its timeline in turn, and the next
// event waits for that: with 50 000 subscriptions of 50 users, those of others waited for seconds.
const maxOfUser = 100

// errTooManyOfUser refuses one more subscription of a user to a timeline.
var errTooManyOfUser = func() error {
	err := retwis.Errorf(retwis.CodeRateLimited,
		"you have %d subscriptions to this timeline: end some of them first, or combine their filters", maxOfUser)
	err.RetryAfterSeconds = retryAfter
	return err
}()

// crowd counts the subscribers of a timeline by user while there are many. Of few, nobody can have too many.
type crowd map[retwis.UserID]int

// admits reports whether a client may have one more subscription to the timeline.
func (f *feed) admits(client ratelimit.Client) bool {
	if len(f.subscribers) < maxOfUser {
		return true
	}
	if f.crowd == nil {
		f.crowd = crowd{}
		for _, s := range f.subscribers {
			f.crowd.add(s, 1)
		}
	}
	return f.crowd[client.User] < maxOfUser
}

// add counts a subscriber that comes or leaves.
func (c crowd) add(s *subscription, n int) {
	if c == nil || s.client.User <= 0 {
		return // anonymous clients have a limit for all their timelines together
	}
	if c[s.client.User] += n; c[s.client.User] == 0 {
		delete(c, s.client.User)
	}
}
