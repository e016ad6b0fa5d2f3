package server

import (
	"sync"

	"retwis/internal/ratelimit"
)

// shares are what each user has of something, and what those who are not logged in have in
// each network together. Below 0 there is no limit.
type shares struct {
	perUser, perNetwork int

	mu    sync.Mutex
	taken map[ratelimit.Key]int
}

func newShares(perUser, perNetwork int) *shares {
	return &shares{perUser: perUser, perNetwork: perNetwork, taken: map[ratelimit.Key]int{}}
}

// take takes one for a holder, if there is one left.
func (s *shares) take(of ratelimit.Key) bool {
	limit := s.perUser
	if of.User == 0 {
		limit = s.perNetwork
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit >= 0 && s.taken[of] >= limit {
		return false
	}
	s.taken[of]++
	return true
}

func (s *shares) giveBack(of ratelimit.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[of]--; s.taken[of] == 0 {
		delete(s.taken, of)
	}
}
