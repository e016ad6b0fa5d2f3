package live

import (
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// errTooManyOfUser refuses one more subscription of a user to a timeline. Each event is handed to all subscribers of its timeline in turn, and the next
// event waits for that: with 50 000 subscriptions of 50 users, those of others waited for seconds.
var errTooManyOfUser = func() error {
	err := retwis.Errorf(retwis.CodeRateLimited,
		"you have too many subscriptions to this timeline: end some of them first, or combine their filters")
	err.RetryAfterSeconds = retryAfter
	return err
}()

// crowd counts the subscribers of a timeline by user while there are many. Of few, nobody can have too many.
type crowd map[retwis.UserID]int

// admits reports whether a client may have one more subscription to the timeline.
func (f *feed) admits(client ratelimit.Client) bool {
	most := f.partition.hub.options.MaxOfUser
	if most < 0 || len(f.subscribers) < most {
		return true
	}
	if f.crowd == nil {
		f.crowd = crowd{}
		for _, s := range f.subscribers {
			f.crowd.add(s, 1)
		}
	}
	return f.crowd[client.User] < most
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
