package live

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Attack: 50 users had 1000 subscriptions each to the public timeline. Each event went to all of them before the next one, and subscribers of others, and
// new ones, waited for seconds.
func TestAttach_LimitsTheSubscriptionsOfAUserToATimeline(t *testing.T) {
	const maxOfUser = 10
	inBubble(t, Options{MaxOfUser: maxOfUser}, func(t *testing.T, db *fakeDatabase, h *Hub) {
		const anonymous, greedy, other = 0, 7, 8
		subscribe := func(user retwis.UserID, timeline retwis.TimelineID) (end func(), err error) {
			ctx, end := context.WithCancel(t.Context())
			client := ratelimit.Client{User: user, Address: netip.MustParseAddr("192.0.2.1")}
			_, err = h.Subscribe(cost.With(ctx, cost.NewMeter(cost.Options{Client: client})), timeline, "")
			return end, err
		}
		var first func()
		for n := range maxOfUser {
			end, err := subscribe(greedy, alice)
			if err != nil {
				t.Fatalf("subscription %d: %v", n, err)
			}
			first = end
		}
		refused := func(when string) {
			t.Helper()
			if _, err := subscribe(greedy, alice); !errors.Is(err, errTooManyOfUser) {
				t.Errorf("%s: %v", when, err)
			}
		}
		refused("one more")
		for user, timeline := range map[retwis.UserID]retwis.TimelineID{other: alice, greedy: bob, anonymous: alice} {
			if _, err := subscribe(user, timeline); err != nil {
				t.Errorf("user %d, timeline %s: %v", user, timeline, err)
			}
		}
		for range maxOfUser {
			if _, err := subscribe(anonymous, alice); err != nil {
				t.Fatal(err)
			}
		}
		first()
		synctest.Wait()
		if _, err := subscribe(greedy, alice); err != nil {
			t.Errorf("after the end of one: %v", err)
		}
		refused("one more again")
	})
}
