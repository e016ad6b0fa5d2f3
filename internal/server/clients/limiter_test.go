package clients

import (
	"fmt"
	"testing"

	"retwis/internal/ratelimit"
)

func TestLimiter_ReleaseMakesRoom(t *testing.T) {
	s := NewLimiter(2, 1)
	user, nobody := ratelimit.Key{User: 5}, ratelimit.Client{}.Key()
	got := []bool{s.Acquire(user), s.Acquire(user), s.Acquire(user), s.Acquire(nobody), s.Acquire(nobody)}
	if want := []bool{true, true, false, true, false}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v", got)
	}
	s.Release(user)
	s.Release(user)
	s.Release(nobody)
	if len(s.open) != 0 {
		t.Errorf("%v is left behind", s.open)
	}
}
