package retwis

import (
	"strings"
	"testing"
)

func TestNormalizeListName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"  Friends of mine ":       "Friends of mine",
		"Ame\u0301lie":             "Amélie",
		strings.Repeat(family, 50): strings.Repeat(family, 50),
		"on one line\r\n":          "on one line",
	} {
		if got, err := NormalizeListName(name); err != nil || got != want {
			t.Errorf("NormalizeListName(%+q) = %+q, %v, want %+q", name, got, err, want)
		}
	}
	for _, tt := range []struct {
		name    string
		code    Code
		message string
	}{
		{" \n", CodeBlank, "name is blank"},
		{"\u3164", CodeBlank, "name is blank"},
		{strings.Repeat("a", 51), CodeTooLong, "list names can have up to 50 characters (yours has 51)"},
		{"a" + strings.Repeat("\u20dd", 700), CodeTooLong, "2101 bytes"},
		{"a\nb", CodeInvalid, "single line"},
		{"a\u202eb", CodeInvalid, "U+202E"},
	} {
		_, err := NormalizeListName(tt.name)
		wantUserError(t, err, tt.code, "name", tt.message)
	}
}
