package retwis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// NormalizePassword returns the form of a new password that is hashed, or a user
// error that blames the field, for it is called "password" in one input and
// "newPassword" in another. A password has [MinPasswordLength] to [MaxPasswordLength]
// code points, whichever they are.
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

// PasswordForm returns the form of a password that is compared with a hash, and false
// when no account can have the password: it is too long or not UTF-8. What is too
// short for a new password passes, for older accounts may have been given less.
func PasswordForm(password string) (string, bool) {
	if len(password) > maxPasswordBytes || !utf8.ValidString(password) {
		return "", false
	}
	form := foldPassword(password)
	return form, utf8.RuneCountInString(form) <= MaxPasswordLength
}

// maxPasswordBytes bounds the work on a password before its characters are counted.
const maxPasswordBytes = MaxPasswordLength * utf8.UTFMax * maxShrink

func tooLongPassword(field string) error {
	return FieldError(CodeTooLong, field, "use at most %d characters", MaxPasswordLength)
}

// foldPassword makes the same password of what different keyboards send for it: NFC,
// and every space the ASCII one, as the OpaqueString profile of RFC 8265 has it.
func foldPassword(password string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, password))
}
