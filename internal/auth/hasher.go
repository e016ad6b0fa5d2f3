package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"

	"golang.org/x/crypto/argon2"

	"retwis/internal/retwis"
)

const (
	saltLength = 16
	keyLength  = 32
)

// hasher hashes passwords, a few at a time: each takes megabytes, and a core for tens
// of milliseconds that timelines wait for too.
type hasher struct {
	params  HashParameters
	running chan struct{} // holds one for each hash being computed
	present chan struct{} // and one for each of those and of those that wait
	derive  func(password, salt []byte, params HashParameters, length int) []byte
	decoy   passwordHash
}

func newHasher(params HashParameters, parallel, waiting int) *hasher {
	// Nothing hashes to the decoy: its key is as random as its salt. Comparing with it
	// takes what comparing with a true hash takes.
	decoy := passwordHash{params: params, salt: random(saltLength), key: random(keyLength)}
	return &hasher{
		params:  params,
		running: make(chan struct{}, parallel),
		present: make(chan struct{}, parallel+waiting),
		derive:  argon2id,
		decoy:   decoy,
	}
}

// hash returns a new hash of a password, in the form that is stored.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	made := passwordHash{params: h.params, salt: random(saltLength)}
	key, err := h.compute(ctx, password, made, keyLength)
	if err != nil {
		return "", err
	}
	made.key = key
	return made.String(), nil
}

// matches reports whether a stored hash is that of the password.
func (h *hasher) matches(ctx context.Context, password, stored string) (bool, error) {
	want, err := parsePasswordHash(stored)
	if err != nil {
		return false, err
	}
	return h.compare(ctx, password, want)
}

// matchesNothing takes as long as matches, for a name that nobody has.
func (h *hasher) matchesNothing(ctx context.Context, password string) error {
	_, err := h.compare(ctx, password, h.decoy)
	return err
}

// outdated reports whether a stored hash was made with other parameters than a new one.
func (h *hasher) outdated(stored string) bool {
	made, err := parsePasswordHash(stored)
	return err == nil && (made.params != h.params || len(made.salt) != saltLength || len(made.key) != keyLength)
}

func (h *hasher) compare(ctx context.Context, password string, want passwordHash) (bool, error) {
	got, err := h.compute(ctx, password, want, len(want.key))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want.key) == 1, nil
}

// compute derives a key when its turn comes. Where too many wait already the error is
// RATE_LIMITED, at once.
func (h *hasher) compute(ctx context.Context, password string, with passwordHash, length int) ([]byte, error) {
	select {
	case h.present <- struct{}{}:
		defer func() { <-h.present }()
	default:
		busy := retwis.Errorf(retwis.CodeRateLimited, "too many logins are in progress: try again in a moment")
		busy.RetryAfterSeconds = 1
		return nil, busy
	}
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
	if err := ctx.Err(); err != nil { // both may have been ready
		return nil, fmt.Errorf("wait to hash a password: %w", err)
	}
	return h.derive([]byte(password), with.salt, with.params, length), nil
}

func argon2id(password, salt []byte, params HashParameters, length int) []byte {
	return argon2.IDKey(password, salt, params.Passes, params.MemoryKiB, params.Lanes, uint32(length))
}

func random(length int) []byte {
	b := make([]byte, length)
	_, _ = rand.Read(b) // never fails: the process ends instead
	return b
}
