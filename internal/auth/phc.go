package auth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// HashParameters are the cost parameters of argon2id.
type HashParameters struct {
	MemoryKiB uint32
	Passes    uint32
	Lanes     uint8
}

// Bounds of hashes. A stored hash outside of them is damaged or malicious, because no version
// of the service used such parameters, and computing it could stall the process.
const (
	maxMemoryKiB = 256 << 10
	maxPasses    = 16
	maxLanes     = 16
	minSalt      = 8
	maxSalt      = 64
	minKey       = 16
	maxKey       = 64
)

func (p HashParameters) check() error {
	switch {
	case p.Passes < 1 || p.Passes > maxPasses:
		return fmt.Errorf("%d passes are not between 1 and %d", p.Passes, maxPasses)
	case p.Lanes < 1 || p.Lanes > maxLanes:
		return fmt.Errorf("%d lanes are not between 1 and %d", p.Lanes, maxLanes)
	case p.MemoryKiB < 8*uint32(p.Lanes) || p.MemoryKiB > maxMemoryKiB:
		return fmt.Errorf("%d KiB of memory are not between %d and %d", p.MemoryKiB, 8*p.Lanes, maxMemoryKiB)
	}
	return nil
}

// passwordHash is the stored form of a password.
type passwordHash struct {
	params HashParameters
	salt   []byte
	key    []byte
}

const parameterFormat = "m=%d,t=%d,p=%d"

// String returns the PHC string form, $argon2id$v=19$m=19456,t=2,p=1$salt$key.
func (h passwordHash) String() string {
	return "$argon2id$v=19$" + fmt.Sprintf(parameterFormat, h.params.MemoryKiB, h.params.Passes, h.params.Lanes) +
		"$" + base64.RawStdEncoding.EncodeToString(h.salt) + "$" + base64.RawStdEncoding.EncodeToString(h.key)
}

// parsePasswordHash parses the result of String and accepts no other form. Its errors do not
// contain the hash.
func parsePasswordHash(s string) (passwordHash, error) {
	if len(s) > 512 {
		return passwordHash{}, fmt.Errorf("password hash of %d bytes", len(s))
	}
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != "v=19" {
		return passwordHash{}, errors.New("the password hash is not of argon2id, version 19")
	}
	var h passwordHash
	if _, err := fmt.Sscanf(parts[3], parameterFormat, &h.params.MemoryKiB, &h.params.Passes, &h.params.Lanes); err != nil {
		return passwordHash{}, fmt.Errorf("parameters of a password hash: %w", err)
	}
	if err := h.params.check(); err != nil {
		return passwordHash{}, fmt.Errorf("parameters of a password hash: %w", err)
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil || len(h.salt) < minSalt || len(h.salt) > maxSalt {
		return passwordHash{}, errors.New("invalid salt in a password hash")
	}
	if h.key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(h.key) < minKey || len(h.key) > maxKey {
		return passwordHash{}, errors.New("invalid key in a password hash")
	}
	if h.String() != s {
		return passwordHash{}, errors.New("the password hash is not in canonical form")
	}
	return h, nil
}
