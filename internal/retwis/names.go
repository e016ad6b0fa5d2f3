package retwis

import "strings"

// CheckUsername returns a user error unless a new account may have the name: 3 to 20 of the
// characters A–Z a–z 0–9 _, and not reserved. It does not change the name, whose case is kept
// for display. The store checks whether the name is taken.
func CheckUsername(name string) error {
	const field = "username"
	switch {
	case strings.TrimSpace(name) == "":
		return FieldError(CodeBlank, field, "enter a username")
	case len(name) > MaxUsernameLength:
		return FieldError(CodeTooLong, field, "use at most %d characters", MaxUsernameLength)
	case !spelledAsUsername(name):
		return FieldError(CodeInvalid, field, "use only letters, digits and underscores")
	case len(name) < MinUsernameLength:
		return FieldError(CodeTooShort, field, "use at least %d characters", MinUsernameLength)
	case isReserved(FoldUsername(name)):
		return FieldError(CodeTaken, field, "that username is reserved: choose another one")
	}
	return nil
}

// IsUsername reports whether a name has the length and the characters of a username. It
// accepts reserved names, because older accounts may have them.
func IsUsername(name string) bool {
	return len(name) >= MinUsernameLength && len(name) <= MaxUsernameLength && spelledAsUsername(name)
}

// StartsUsername reports whether a username could begin with a prefix of 1 to
// [MaxUsernameLength] characters.
func StartsUsername(prefix string) bool {
	return prefix != "" && len(prefix) <= MaxUsernameLength && spelledAsUsername(prefix)
}

// FoldUsername returns the lower-case form in which usernames are unique. It folds only ASCII,
// so that no other character, such as the Kelvin sign, becomes a letter of a username.
func FoldUsername(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

func spelledAsUsername(name string) bool {
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
		default:
			return false
		}
	}
	return true
}
