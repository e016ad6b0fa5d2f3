package retwis

import "strings"

// CheckUsername returns a user error unless the name may be given to a new account:
// 3 to 20 of A–Z a–z 0–9 _, and not reserved. Nothing is trimmed or changed, the case
// is kept for display; whether the name is free is for the store to say.
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

// IsUsername reports whether an account could have the name, by its length and
// letters. It holds for reserved names, which older accounts may have.
func IsUsername(name string) bool {
	return len(name) >= MinUsernameLength && len(name) <= MaxUsernameLength && spelledAsUsername(name)
}

// StartsUsername reports whether the name of an account could begin with a text: it is
// made of 1 to [MaxUsernameLength] characters of names.
func StartsUsername(prefix string) bool {
	return prefix != "" && len(prefix) <= MaxUsernameLength && spelledAsUsername(prefix)
}

// FoldUsername returns the form in which usernames are unique: lower case. Only ASCII
// is folded, so that no other letter (the Kelvin sign, say) turns into one of a name.
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
