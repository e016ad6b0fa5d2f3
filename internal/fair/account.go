package fair

import "sync"

// Account is how much of a gate's resource one of several parts of a holder uses. Its methods are safe for concurrent use.
type Account[K comparable] struct {
	gate  *Gate[K]
	outer *Account[K] // counts the same for another gate; may be nil

	mu  sync.Mutex
	key K
	n   int
}

// NewAccount returns an account of a holder that uses nothing. If outer is not nil, everything counts there, too.
func NewAccount[K comparable](gate *Gate[K], key K, outer *Account[K]) *Account[K] {
	return &Account[K]{gate: gate, key: key, outer: outer}
}

// Set changes how much is in use. It reports false, and changes nothing, if the growth exceeds a capacity or a share.
func (a *Account[K]) Set(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > a.n && !a.gate.Try(a.key, n-a.n) {
		return false
	}
	if a.outer != nil && !a.outer.Set(n) {
		a.gate.give(a.key, n-a.n) // only growth fails
		return false
	}
	if n < a.n {
		a.gate.give(a.key, a.n-n)
	}
	a.n = n
	return true
}

// ChangeHolder counts the account for another holder from now on, whatever that uses already. The outer account stays as it is.
func (a *Account[K]) ChangeHolder(key K) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gate.move(a.key, key, a.n)
	a.key = key
}
