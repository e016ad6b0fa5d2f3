package retwis

import "testing"

func TestNewPassword_RefusesCommonPasswords(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"password", "PASSWORD", "Password", "12345678", "iloveyou", "trustno1", "qwertyuiop", "        ", "\u3000\u3000\u3000\u3000 \u00a0  ", "ääääääää", "aaaaaaaaaaaa", "AaAaAaAaAa"} {
		_, err := NewPassword("newPassword", password)
		wantUserError(t, err, CodeInvalid, "newPassword", "too common")
	}
	for _, password := range []string{"correct horse", "a long password", "alice's password", "pässwörter", "password of alice", "12345678 times"} {
		if form, err := NewPassword("password", password); err != nil || form != password {
			t.Errorf("%q: got %q, %v", password, form, err)
		}
	}
	_, err := NewPassword("password", "short")
	wantUserError(t, err, CodeTooShort, "password", "at least 8 characters")
	if n := len(commonHashes); n != 10_000*commonHashLength {
		t.Errorf("the list has %d bytes", n)
	}
	for i := commonHashLength; i < len(commonHashes); i += commonHashLength {
		if commonHashes[i-commonHashLength:i] >= commonHashes[i:i+commonHashLength] {
			t.Fatalf("the list is not sorted at %d", i)
		}
	}
}
