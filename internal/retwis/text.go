package retwis

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"golang.org/x/text/unicode/norm"
)

// NormalizePostText returns the text of a post as it is stored, or a user error
// that says what to change: BLANK, TOO_LONG or INVALID. Normalising a result again
// changes nothing.
//
// White space around the text goes, every kind of line end becomes "\n", and the
// rest is brought to NFC; what stays of control and format characters is said at
// [forbidden]. More than 30 combining marks in a row are broken up by U+034F, as the
// Stream-Safe Text Format of Unicode asks.
func NormalizePostText(text string) (string, error) {
	return textRule{
		field: "text", noun: "post", plural: "posts",
		graphemes: MaxPostGraphemes, bytes: MaxPostBytes,
		lines: true,
	}.normalize(text)
}

// NormalizeDisplayName returns the display name as it is stored: the rules are those
// of a post, with other limits and on one line.
func NormalizeDisplayName(name string) (string, error) {
	return textRule{
		field: "displayName", noun: "display name", plural: "display names",
		graphemes: MaxDisplayNameGraphemes, bytes: MaxDisplayNameBytes,
	}.normalize(name)
}

// NormalizeBio returns the bio as it is stored: the rules are those of a post, with
// other limits, and it may be empty. One in which nothing can be seen is empty.
func NormalizeBio(bio string) (string, error) {
	return textRule{
		field: "bio", noun: "bio", plural: "bios",
		graphemes: MaxBioGraphemes, bytes: MaxBioBytes,
		lines: true, optional: true,
	}.normalize(bio)
}

// textRule is what one kind of text must keep to.
type textRule struct {
	field     string // of the input, for errors
	noun      string // in messages
	plural    string // of noun
	graphemes int    // at most, after normalising
	bytes     int    // at most, after normalising
	lines     bool   // may have several lines
	optional  bool   // may be empty
}

// maxShrink is how many times shorter normalising may make a text: a Greek letter
// spelt with its marks apart is the extreme, 3.5.
const maxShrink = 4

func (rule textRule) normalize(text string) (string, error) {
	text = strings.TrimFunc(text, trimmed)
	// The request may hold hundreds of kilobytes: what cannot fit is refused by its
	// length alone, before anything looks at its characters.
	if len(text) > maxShrink*rule.bytes {
		return "", rule.fail(CodeTooLong, "%s can have up to %d characters", rule.plural, rule.graphemes)
	}
	if !utf8.ValidString(text) {
		return "", rule.fail(CodeInvalid, "the %s is not valid UTF-8", rule.noun)
	}
	if invisible(text) {
		if rule.optional {
			return "", nil
		}
		return "", rule.fail(CodeBlank, "the %s is blank: enter visible characters", rule.noun)
	}
	text = norm.NFC.String(newlines(text))
	if err := rule.checkCharacters(text); err != nil {
		return "", err
	}
	if n := countGraphemes(text); n > rule.graphemes {
		return "", rule.fail(CodeTooLong, "%s can have up to %d characters (yours has %d)", rule.plural, rule.graphemes, n)
	}
	if len(text) > rule.bytes {
		return "", rule.fail(CodeTooLong,
			"the %s has %d bytes, the limit is %d: use fewer combining marks, or simpler emoji",
			rule.noun, len(text), rule.bytes)
	}
	return text, nil
}

func (rule textRule) checkCharacters(text string) error {
	r, found := firstForbidden(text)
	switch {
	case found && r == '\t':
		return rule.fail(CodeInvalid, "use spaces instead of tabs (%U)", r)
	case found:
		return rule.fail(CodeInvalid, "remove the character %U: control characters and invisible characters are not allowed", r)
	case !rule.lines && strings.Contains(text, "\n"):
		return rule.fail(CodeInvalid, "the %s contains a line break (%U): use a single line", rule.noun, '\n')
	}
	return nil
}

func (rule textRule) fail(code Code, format string, args ...any) error {
	return FieldError(code, rule.field, format, args...)
}

func countGraphemes(text string) int {
	n := 0
	for g := graphemes.FromString(text); g.Next(); {
		n++
	}
	return n
}
