package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"

	"retwis/internal/retwis"
)

// A token is the unpadded base64url encoding of two bytes of bucket and 256 random bits. The
// bucket determines the partition of the session without a lookup.
const (
	bucketBytes = 2
	secretBytes = 32
	tokenBytes  = bucketBytes + secretBytes
)

// NewToken returns a token for a new session of a user in a bucket, and the key of the session.
// Only the client receives the token; the service stores the key.
func NewToken(bucket int) (token string, key retwis.SessionKey) {
	var b [tokenBytes]byte
	binary.BigEndian.PutUint16(b[:bucketBytes], uint16(bucket))
	_, _ = rand.Read(b[bucketBytes:]) // never fails; the process would crash
	token = base64.RawURLEncoding.EncodeToString(b[:])
	return token, keyOf(bucket, token)
}

// ParseToken returns the key of the session of a token. It fails with
// [retwis.ErrUnauthenticated] for a text that [NewToken] cannot have returned, which needs no
// lookup in the store.
func ParseToken(token string) (retwis.SessionKey, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return retwis.SessionKey{}, errBadToken()
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	// The decoder ignores line breaks and excess bits, so only the canonical form is accepted.
	if err != nil || len(b) != tokenBytes || base64.RawURLEncoding.EncodeToString(b) != token {
		return retwis.SessionKey{}, errBadToken()
	}
	bucket := int(binary.BigEndian.Uint16(b))
	if bucket >= retwis.Buckets {
		return retwis.SessionKey{}, errBadToken()
	}
	return keyOf(bucket, token), nil
}

func keyOf(bucket int, token string) retwis.SessionKey {
	sum := sha256.Sum256([]byte(token))
	return retwis.SessionKey{Bucket: bucket, Hash: hex.EncodeToString(sum[:])}
}

func errBadToken() error {
	return retwis.Errorf(retwis.CodeUnauthenticated, "the session token is invalid: log in again")
}
