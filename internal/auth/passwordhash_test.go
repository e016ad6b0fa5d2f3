package auth

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
)

// The hash of "password" with the salt "somesalt" is from the tests of the reference implementation of argon2.
func TestArgon2id_AgreesWithTheReference(t *testing.T) {
	t.Parallel()
	want, err := base64.RawStdEncoding.DecodeString("nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4")
	if err != nil {
		t.Fatal(err)
	}
	params := HashParameters{MemoryKiB: 256, Passes: 2, Lanes: 1}
	for _, usual := range []HashParameters{params, costlier()} {
		derive := deriver(usual)
		for range 3 { // the memory of other passwords is used again
			derive([]byte("another password"), []byte("pepper!!"), usual)
			if got := derive([]byte("password"), []byte("somesalt"), params); !bytes.Equal(got, want) {
				t.Errorf("with the usual parameters %+v the key is %x, want %x", usual, got, want)
			}
		}
	}
}

// storedHash returns a hash of 256 KiB, 2 passes and 1 lane.
func storedHash() passwordHash {
	h := passwordHash{params: HashParameters{MemoryKiB: 256, Passes: 2, Lanes: 1}}
	copy(h.salt[:], "a salt of bytes!")
	copy(h.key[:], "a key that nobody derived so far")
	return h
}

func TestPasswordHash_IsShortEnoughForACompactAccount(t *testing.T) {
	t.Parallel()
	// The default of hash-max-listpack-value.
	if n := len(storedHash().String()); n > 64 {
		t.Errorf("a stored hash has %d bytes, want at most 64", n)
	}
}

func TestParsePasswordHash_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	want := storedHash()
	want.params = HashParameters{MemoryKiB: maxMemoryKiB, Passes: maxPasses, Lanes: maxLanes}
	if got, err := parsePasswordHash(want.String()); err != nil || got != want {
		t.Errorf("the hash is read as %+v, %v, want %+v", got, err, want)
	}
}

func TestParsePasswordHash_RefusesOtherForms(t *testing.T) {
	t.Parallel()
	stored := storedHash().String()
	with := func(at int, bytes ...byte) string {
		b := []byte(stored)
		copy(b[at:], bytes)
		return string(b)
	}
	tests := []struct{ name, damaged string }{
		{"nothing", ""},
		{"a text form", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"},
		{"one byte less", stored[:len(stored)-1]},
		{"one byte more", stored + "x"},
		{"another form", with(0, 2)},
		{"no lanes", with(1, 0)},
		{"too many lanes", with(1, 17)},
		{"no passes", with(2, 0)},
		{"too many passes", with(2, 17)},
		{"no memory", with(3, 0, 0, 0, 0)},
		{"memory below that of the lanes", with(3, 0, 0, 0, 7)},
		{"a terabyte", with(3, 0x40, 0, 0, 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, err := parsePasswordHash(tt.damaged)
			if err == nil {
				t.Fatalf("%q is read as %+v", tt.damaged, h)
			}
			if strings.Contains(err.Error(), "a key that") {
				t.Errorf("the error repeats the hash: %v", err)
			}
		})
	}
}

func FuzzParsePasswordHash(f *testing.F) {
	for _, seed := range []string{"", storedHash().String(), strings.Repeat("\x01", hashLength)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parsePasswordHash(s)
		if err != nil {
			return
		}
		if h.String() != s {
			t.Fatalf("%q and %q are the same hash", s, h)
		}
		if err := h.params.check(); err != nil {
			t.Fatalf("%q is read as %+v: %v", s, h, err)
		}
	})
}
