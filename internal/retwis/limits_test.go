package retwis

import (
	"strings"
	"testing"
)

func TestCheckIdempotencyKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"1", "7f9c-Key_~!", "with space", strings.Repeat("k", 64)} {
		if err := CheckIdempotencyKey(key); err != nil {
			t.Errorf("CheckIdempotencyKey(%q) = %v", key, err)
		}
	}
	for _, tt := range []struct {
		key  string
		code Code
	}{
		{"", CodeBlank},
		{strings.Repeat("k", 65), CodeTooLong},
		{"a\nb", CodeInvalid},
		{"a\x7fb", CodeInvalid},
		{"clé", CodeInvalid},
		{"\xff", CodeInvalid},
	} {
		wantUserError(t, CheckIdempotencyKey(tt.key), tt.code, "idempotencyKey", "idempotency key")
	}
}
