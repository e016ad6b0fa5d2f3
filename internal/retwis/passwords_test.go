package retwis

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNormalizePassword(t *testing.T) {
	t.Parallel()
	for password, want := range map[string]string{
		"12345678":                        "12345678",
		"        ":                        "        ",
		" with spaces ":                   " with spaces ",
		"\u3000deux\u00a0mots":            " deux mots",
		"cafe\u0301-au-lait":              "café-au-lait",
		"ünïcödé!":                        "ünïcödé!",
		strings.Repeat("🔑", 256):          strings.Repeat("🔑", 256),
		strings.Repeat("e\u0301", 256):    strings.Repeat("é", 256),
		"tab\tand\nnewline":               "tab\tand\nnewline",
		strings.Repeat("\u212b", 8):       strings.Repeat("\u00c5", 8),
		"no compatibility folding: ﬁ ² ①": "no compatibility folding: ﬁ ² ①",
	} {
		got, err := NormalizePassword("password", password)
		if err != nil || got != want {
			t.Errorf("NormalizePassword(%+q) = %+q, %v, want %+q", password, got, err, want)
		}
		if form, ok := PasswordForm(password); !ok || form != want {
			t.Errorf("PasswordForm(%+q) = %+q, %t, want %+q", password, form, ok, want)
		}
	}
	for _, tt := range []struct {
		password string
		code     Code
		message  string
		mayExist bool
	}{
		{"", CodeBlank, "enter a password", true},
		{"1234567", CodeTooShort, "at least 8 characters", true},
		{strings.Repeat("e\u0301", 7), CodeTooShort, "at least 8 characters", true},
		{strings.Repeat("a", 257), CodeTooLong, "at most 256 characters", false},
		{strings.Repeat("🔑", 257), CodeTooLong, "at most 256 characters", false},
		{strings.Repeat("a", 250_000), CodeTooLong, "at most 256 characters", false},
		{"1234567\xff", CodeInvalid, "UTF-8", false},
	} {
		_, err := NormalizePassword("newPassword", tt.password)
		wantUserError(t, err, tt.code, "newPassword", tt.message)
		if err != nil && tt.password != "" && strings.Contains(err.Error(), tt.password) {
			t.Errorf("the message repeats the password: %v", err)
		}
		if _, ok := PasswordForm(tt.password); ok != tt.mayExist {
			t.Errorf("PasswordForm(%d bytes) = %t", len(tt.password), ok)
		}
	}
}

func FuzzNormalizePassword(f *testing.F) {
	for _, seed := range []string{"", "password", "\u3000\u00a0\u2000 mixed", "e\u0301e\u0301e\u0301e\u0301", "a\xff", strings.Repeat("a\u0301", 130)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, password string) {
		got, err := NormalizePassword("password", password)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || !e.UserError() {
				t.Fatalf("%+q is refused with %#v", password, err)
			}
			return
		}
		if n := utf8.RuneCountInString(got); n < MinPasswordLength || n > MaxPasswordLength {
			t.Fatalf("%+q becomes %+q, of %d characters", password, got, n)
		}
		if again, err := NormalizePassword("password", got); err != nil || again != got {
			t.Fatalf("%+q becomes %+q, then %+q, %v", password, got, again, err)
		}
		if form, ok := PasswordForm(password); !ok || form != got {
			t.Fatalf("%+q is hashed as %+q and compared as %+q, %t", password, got, form, ok)
		}
	})
}
