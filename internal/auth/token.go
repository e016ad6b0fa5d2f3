package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"

	"retwis/internal/retwis"
)

// A token is base64url, without padding, of two bytes of bucket and 256 random bits.
// The bucket says in which partition the session is, without a place to look it up.
const (
	bucketBytes = 2
	secretBytes = 32
	tokenBytes  = bucketBytes + secretBytes
)

// NewToken makes the token of a new session of a user of the bucket. The token is told
// once, to the client; only the key is kept.
func NewToken(bucket int) (token string, key retwis.SessionKey) {
	var b [tokenBytes]byte
	binary.BigEndian.PutUint16(b[:bucketBytes], uint16(bucket))
	_, _ = rand.Read(b[bucketBytes:]) // never fails: the process ends instead
	token = base64.RawURLEncoding.EncodeToString(b[:])
	return token, keyOf(bucket, token)
}

// ParseToken returns the key of the session that a token would open. What [NewToken]
// cannot have made is [retwis.ErrUnauthenticated], and is not worth a look at the store.
func ParseToken(token string) (retwis.SessionKey, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return retwis.SessionKey{}, errBadToken()
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	// Decoding skips line ends and stray last bits: only the one true spelling passes.
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
