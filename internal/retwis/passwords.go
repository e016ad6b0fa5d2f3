package retwis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// NormalizePassword returns the form of a new password to hash, or a user error about the
// field, which is "password" or "newPassword" depending on the input. A password has
// [MinPasswordLength] to [MaxPasswordLength] arbitrary code points.
func NormalizePassword(field, password string) (string, error) {
	if password == "" {
		return "", FieldError(CodeBlank, field, "enter a password")
	}
	if len(password) > maxPasswordBytes {
		return "", tooLongPassword(field)
	}
	if !utf8.ValidString(password) {
		return "", FieldError(CodeInvalid, field, "the password is not valid UTF-8")
	}
	form := foldPassword(password)
	switch n := utf8.RuneCountInString(form); {
	case n > MaxPasswordLength:
		return "", tooLongPassword(field)
	case n < MinPasswordLength:
		return "", FieldError(CodeTooShort, field, "use at least %d characters", MinPasswordLength)
	}
	return form, nil
}

// PasswordForm returns the form of a password to compare with a hash, and false if no
// account can have the password, because it is too long or not UTF-8. It accepts passwords
// that are too short for new accounts, because older accounts may have them.
func PasswordForm(password string) (string, bool) {
	if len(password) > maxPasswordBytes || !utf8.ValidString(password) {
		return "", false
	}
	form := foldPassword(password)
	return form, utf8.RuneCountInString(form) <= MaxPasswordLength
}

// maxPasswordBytes bounds the length of a password before its characters are counted.
const maxPasswordBytes = MaxPasswordLength * utf8.UTFMax * maxShrink

func tooLongPassword(field string) error {
	return FieldError(CodeTooLong, field, "use at most %d characters", MaxPasswordLength)
}

// foldPassword maps the different encodings that keyboards send for a password to one: NFC
// with ASCII spaces only, by the OpaqueString profile of RFC 8265.
func foldPassword(password string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, password))
}
