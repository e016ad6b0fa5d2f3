package cost

import (
	"retwis/internal/fair"
	"retwis/internal/ratelimit"
)

// EventBytes is what a live event takes while it waits, if no other subscription has it.
const EventBytes = 400

// uncountedEvents is how many events' bytes are not counted in one place: most places have one event at a time.
const uncountedEvents = 8

// EventAccount counts the bytes of the events of one client that wait in one place: in a render queue, or in and behind a replay. Its zero value
// counts none. It is not safe for concurrent use.
type EventAccount struct {
	account *fair.Account[ratelimit.Key] // nil while nothing is counted
	counted int
}

// Grow counts the bytes once there are many more than are counted. It reports false, and counts nothing, if they are too many. The client has to be
// the same until none are left.
func (a *EventAccount) Grow(gates Gates, client ratelimit.Client, bytes int) bool {
	if bytes <= a.counted+uncountedEvents*EventBytes {
		return true
	}
	account := a.account
	if account == nil {
		account = gates.account(client)
	}
	if !account.Set(bytes) {
		return false
	}
	a.account, a.counted = account, bytes
	return true
}

// Shrink counts the bytes once there are many fewer than are counted, or none.
func (a *EventAccount) Shrink(bytes int) {
	if a.counted == 0 || bytes > 0 && bytes >= a.counted-uncountedEvents*EventBytes {
		return
	}
	a.account.Set(bytes)
	if a.counted = bytes; bytes == 0 {
		a.account = nil
	}
}
