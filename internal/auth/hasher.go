package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"

	"github.com/minio/argon2"
)

const (
	saltLength = 16
	keyLength  = 32
)

// hasher hashes passwords in turn. Each hash takes megabytes of memory and tens of milliseconds of CPU time.
type hasher struct {
	params HashParameters
	turn   func(ctx context.Context) (done func(), err error)
	derive func(password, salt []byte, params HashParameters) []byte
	decoy  passwordHash
}

func newHasher(params HashParameters, turn func(ctx context.Context) (done func(), err error)) *hasher {
	if turn == nil {
		turn = func(context.Context) (func(), error) { return func() {}, nil }
	}
	// No password matches the decoy, because its key is random. A comparison with it takes
	// as long as one with a stored hash.
	decoy := passwordHash{params: params}
	fillRandom(decoy.salt[:])
	fillRandom(decoy.key[:])
	return &hasher{params: params, turn: turn, derive: deriver(params), decoy: decoy}
}

// hash returns a new hash of a password in its stored form.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	made := passwordHash{params: h.params}
	fillRandom(made.salt[:])
	key, err := h.compute(ctx, password, made)
	if err != nil {
		return "", err
	}
	copy(made.key[:], key)
	return made.String(), nil
}

// matches reports whether a stored hash is a hash of the password.
func (h *hasher) matches(ctx context.Context, password, stored string) (bool, error) {
	want, err := parsePasswordHash(stored)
	if err != nil {
		return false, err
	}
	return h.compare(ctx, password, want)
}

// matchesNothing takes as long as matches. It is for usernames that do not exist.
func (h *hasher) matchesNothing(ctx context.Context, password string) error {
	_, err := h.compare(ctx, password, h.decoy)
	return err
}

// outdated reports whether the parameters of a stored hash differ from those of new hashes.
func (h *hasher) outdated(stored string) bool {
	made, err := parsePasswordHash(stored)
	return err == nil && made.params != h.params
}

func (h *hasher) compare(ctx context.Context, password string, want passwordHash) (bool, error) {
	got, err := h.compute(ctx, password, want)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want.key[:]) == 1, nil
}

// compute waits for its turn and derives a key.
func (h *hasher) compute(ctx context.Context, password string, with passwordHash) ([]byte, error) {
	done, err := h.turn(ctx)
	if err != nil {
		return nil, fmt.Errorf("wait for password hashing: %w", err)
	}
	defer done()
	return h.derive([]byte(password), with.salt[:], with.params), nil
}

// deriver returns argon2id. With the usual parameters it uses the memory of earlier calls again: megabytes of garbage for each hash would
// let the garbage collector run all the time in a process with many subscribers.
func deriver(usual HashParameters) func(password, salt []byte, params HashParameters) []byte {
	derive := argon2.NewIDKey(usual.Passes, usual.MemoryKiB, usual.Lanes)
	return func(password, salt []byte, params HashParameters) []byte {
		if params != usual {
			return argon2.IDKey(password, salt, params.Passes, params.MemoryKiB, params.Lanes, keyLength)
		}
		return derive(password, salt, nil, nil, keyLength)
	}
}

func fillRandom(b []byte) {
	_, _ = rand.Read(b) // never fails; the process would crash
}
