package retwis

// Limits of texts. A reader sees a grapheme cluster as one character, but it may consist of
// many code points. So bytes are limited too.
const (
	MaxPostGraphemes        = 280
	MaxPostBytes            = 4_096
	MaxDisplayNameGraphemes = 50
	MaxDisplayNameBytes     = 2_048
	MaxBioGraphemes         = 160
	MaxBioBytes             = 6_144
)

// Limits of usernames, passwords and idempotency keys, in characters.
const (
	MinUsernameLength       = 3
	MaxUsernameLength       = 20
	MinPasswordLength       = 8
	MaxPasswordLength       = 256
	MaxIdempotencyKeyLength = 64
)

// CheckIdempotencyKey returns a user error unless the key is 1 to
// [MaxIdempotencyKeyLength] printable ASCII characters.
func CheckIdempotencyKey(key string) error {
	const field = "idempotencyKey"
	switch {
	case key == "":
		return FieldError(CodeBlank, field, "the idempotency key is empty: set it to at least one character, or omit it")
	case len(key) > MaxIdempotencyKeyLength:
		return FieldError(CodeTooLong, field, "idempotency keys can have up to %d characters", MaxIdempotencyKeyLength)
	}
	for _, r := range key {
		if r < ' ' || r > '~' {
			return FieldError(CodeInvalid, field, "the idempotency key contains %U: use only printable ASCII characters", r)
		}
	}
	return nil
}
