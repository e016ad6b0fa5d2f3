package auth

import (
	"strings"
	"testing"
)

// Hashes of "password" from the tests of the reference implementation of argon2.
const (
	referenceHash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	smallHash     = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
)

func TestParsePasswordHash_ReadsReferenceHashes(t *testing.T) {
	t.Parallel()
	h := newHasher(cheap(), 1, 1)
	for _, stored := range []string{referenceHash, smallHash} {
		if ok, err := h.matches(t.Context(), "password", stored); err != nil || !ok {
			t.Errorf("the right password of %s gives %t, %v", stored, ok, err)
		}
		if ok, err := h.matches(t.Context(), "Password", stored); err != nil || ok {
			t.Errorf("a wrong password of %s gives %t, %v", stored, ok, err)
		}
		if !h.outdated(stored) {
			t.Errorf("%s is up to date", stored)
		}
	}
}

func TestParsePasswordHash_RefusesOtherForms(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, old, new string }{
		{"another algorithm", "argon2id", "argon2i"},
		{"another version", "v=19", "v=16"},
		{"no version", "$v=19", ""},
		{"no memory", "m=256", "m=0"},
		{"memory below that of the lanes", "m=256", "m=7"},
		{"a terabyte", "m=256", "m=1073741824"},
		{"memory beyond its type", "m=256", "m=4294967552"},
		{"negative memory", "m=256", "m=-256"},
		{"no passes", "t=2", "t=0"},
		{"a thousand passes", "t=2", "t=1000"},
		{"no lanes", "p=1", "p=0"},
		{"too many lanes", "p=1", "p=17"},
		{"lanes beyond their type", "p=1", "p=257"},
		{"another order", "m=256,t=2", "t=2,m=256"},
		{"more parameters", "p=1", "p=1,keyid=x"},
		{"another spelling", "t=2", "t=02"},
		{"a sign", "t=2", "t=+2"},
		{"a short salt", "c29tZXNhbHQ", "c29tZQ"},
		{"a long salt", "c29tZXNhbHQ", strings.Repeat("c29t", 30)},
		{"padding", "c29tZXNhbHQ", "c29tZXNhbHQ="},
		{"no salt", "c29tZXNhbHQ", ""},
		{"a salt that is not base64", "c29tZXNhbHQ", "c29t!!NhbHQ"},
		{"a line end in the salt", "c29tZXNhbHQ", "c29tZX\nNhbHQ"},
		{"no key", "nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", ""},
		{"a short key", "nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "nf65EOgLrQMR"},
		{"a suffix", "Gi/4", "Gi/4$"},
		{"a prefix", "$argon2id", "x$argon2id"},
	}
	if _, err := parsePasswordHash(smallHash); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			damaged := strings.Replace(smallHash, tt.old, tt.new, 1)
			if damaged == smallHash {
				t.Fatal("the case changes nothing")
			}
			h, err := parsePasswordHash(damaged)
			if err == nil {
				t.Fatalf("%q is read as %+v", damaged, h)
			}
			if strings.Contains(err.Error(), "nf65EOgL") {
				t.Errorf("the error repeats the hash: %v", err)
			}
		})
	}
}

func FuzzParsePasswordHash(f *testing.F) {
	for _, seed := range []string{"", "$", referenceHash, smallHash, "$argon2id$v=19$m=8,t=1,p=1$$", strings.Repeat("$", 600)} {
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
		if err := h.params.check(); err != nil || len(h.salt) < minSalt || len(h.key) < minKey {
			t.Fatalf("%q is read as %+v: %v", s, h, err)
		}
	})
}
