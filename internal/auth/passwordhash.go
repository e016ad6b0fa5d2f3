package auth

import (
	"encoding/binary"
	"errors"
	"fmt"
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

// passwordHash is a hash of a password by argon2id, version 0x13.
type passwordHash struct {
	params HashParameters
	salt   [saltLength]byte
	key    [keyLength]byte
}

// The stored form is binary, of 55 bytes: the version of the form (1), the lanes (1), the passes (1), the memory in
// KiB (4, big endian), the salt and the key. Redis keeps a small hash compact only if no value is longer than 64
// bytes, and the usual text form has 97: it would triple the memory of an account.
const (
	hashForm         = 1
	hashHeaderLength = 7
	hashLength       = hashHeaderLength + saltLength + keyLength
)

// String returns the stored form.
func (h passwordHash) String() string {
	b := make([]byte, 0, hashLength)
	b = append(b, hashForm, h.params.Lanes, byte(h.params.Passes))
	b = binary.BigEndian.AppendUint32(b, h.params.MemoryKiB)
	b = append(b, h.salt[:]...)
	return string(append(b, h.key[:]...))
}

// parsePasswordHash parses the result of String and accepts no other form. Its errors do not
// contain the hash.
func parsePasswordHash(s string) (passwordHash, error) {
	if len(s) != hashLength {
		return passwordHash{}, fmt.Errorf("password hash of %d bytes, want %d", len(s), hashLength)
	}
	if s[0] != hashForm {
		return passwordHash{}, errors.New("the password hash has an unknown form")
	}
	b := []byte(s)
	h := passwordHash{params: HashParameters{Lanes: b[1], Passes: uint32(b[2]), MemoryKiB: binary.BigEndian.Uint32(b[3:])}}
	if err := h.params.check(); err != nil {
		return passwordHash{}, fmt.Errorf("parameters of a password hash: %w", err)
	}
	copy(h.salt[:], b[hashHeaderLength:])
	copy(h.key[:], b[hashHeaderLength+saltLength:])
	return h, nil
}
