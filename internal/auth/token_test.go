package auth

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

func TestToken_RoundTrips(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, bucket := range []int{0, 1, 7, 255, 256, 1023, 1023} {
		token, key := NewToken(bucket)
		if seen[token] || seen[key.Hash] {
			t.Fatalf("token %q was returned twice", token)
		}
		seen[token], seen[key.Hash] = true, true
		if len(token) != 46 || len(key.Hash) != 64 || key.Bucket != bucket || strings.Contains(key.Hash, token) {
			t.Errorf("bucket %d has token %q with key %+v", bucket, token, key)
		}
		if got, err := ParseToken(token); err != nil || got != key {
			t.Errorf("token %q is read as %+v, %v, want %+v", token, got, err, key)
		}
	}
}

func TestParseToken_ReturnsTheHash(t *testing.T) {
	t.Parallel()
	key, err := ParseToken("AAE" + strings.Repeat("A", 43))
	want := retwis.SessionKey{Bucket: 1, Hash: "72d03fd7571fd9260f8bf0788568541aa531cc9968fa3794b473e49c531aef5c"} // computed by sha256sum
	if err != nil || key != want {
		t.Errorf("the key is %+v, %v, want %+v", key, err, want)
	}
}

func TestParseToken_RefusesOtherForms(t *testing.T) {
	t.Parallel()
	token, _ := NewToken(5)
	of := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	for name, bad := range map[string]string{
		"nothing":            "",
		"a short one":        token[:45],
		"a long one":         token + "A",
		"padding":            token + "==",
		"white space":        " " + token[1:],
		"a line end inside":  token[:20] + "\n" + token[21:],
		"a line end added":   token + "\n",
		"another alphabet":   "+/" + token[2:],
		"stray last bits":    of(make([]byte, 34))[:45] + "B",
		"bucket 1024":        of(append([]byte{4, 0}, make([]byte, 32)...)),
		"bucket 65535":       of(append([]byte{255, 255}, make([]byte, 32)...)),
		"thirty-three bytes": of(make([]byte, 33)),
		"a whole request":    strings.Repeat("A", 200_000),
	} {
		key, err := ParseToken(bad)
		if !errors.Is(err, retwis.ErrUnauthenticated) || key != (retwis.SessionKey{}) {
			t.Errorf("%s is read as %+v, %v", name, key, err)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	token, _ := NewToken(5)
	f.Add(token)
	f.Add(token[:45] + "\n")
	f.Add(strings.Repeat("_", 46))
	f.Add("")
	f.Fuzz(func(t *testing.T, token string) {
		key, err := ParseToken(token)
		if err != nil {
			if !errors.Is(err, retwis.ErrUnauthenticated) {
				t.Fatalf("%q is refused with %v", token, err)
			}
			return
		}
		b, err := base64.RawURLEncoding.Strict().DecodeString(token)
		if err != nil || len(b) != 34 || base64.RawURLEncoding.EncodeToString(b) != token {
			t.Fatalf("%q is accepted as a token", token)
		}
		if key.Bucket < 0 || key.Bucket >= retwis.Buckets || !bytes.Equal(b[:2], []byte{byte(key.Bucket >> 8), byte(key.Bucket)}) {
			t.Fatalf("%q is in bucket %d", token, key.Bucket)
		}
	})
}
