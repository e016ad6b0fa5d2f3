package retwis

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"golang.org/x/text/unicode/norm"
)

// NormalizePostText returns the text of a post as it is stored, or a user error
// with the code BLANK, TOO_LONG or INVALID. It is idempotent.
//
// It removes white space around the text, replaces every kind of line break by "\n", and
// converts the text to NFC. [forbidden] defines which characters it refuses. It inserts
// U+034F into runs of more than 30 combining marks, as the Stream-Safe Text Format of
// Unicode requires.
func NormalizePostText(text string) (string, error) {
	return textRule{
		field: "text", noun: "post", plural: "posts",
		graphemes: MaxPostGraphemes, bytes: MaxPostBytes,
		lines: true,
	}.normalize(text)
}

// NormalizeDisplayName returns a display name as it is stored. The rules are those of a
// post, with other limits and without line breaks. It refuses names that look like those of
// the service or its staff.
func NormalizeDisplayName(name string) (string, error) {
	const field = "displayName"
	normal, err := textRule{
		field: field, noun: "display name", plural: "display names",
		graphemes: MaxDisplayNameGraphemes, bytes: MaxDisplayNameBytes,
	}.normalize(name)
	if err == nil && imitatesStaff(normal) {
		return "", FieldError(CodeInvalid, field, "the name looks like one of the service: choose another one")
	}
	return normal, err
}

// NormalizeBio returns a bio as it is stored. The rules are those of a post, with other
// limits. A bio may be empty, and one without visible characters becomes empty.
func NormalizeBio(bio string) (string, error) {
	return textRule{
		field: "bio", noun: "bio", plural: "bios",
		graphemes: MaxBioGraphemes, bytes: MaxBioBytes,
		lines: true, optional: true,
	}.normalize(bio)
}

// textRule is the rule for one kind of text.
type textRule struct {
	field     string // name of the input field, for errors
	noun      string // name of the text in messages
	plural    string // of noun
	graphemes int    // maximum after normalising
	bytes     int    // maximum after normalising
	lines     bool   // line breaks are allowed
	optional  bool   // the text may be empty
}

// maxShrink bounds the factor by which normalising can shorten a text. The maximum is 3.5,
// for a Greek letter with separate marks.
const maxShrink = 4

func (rule textRule) normalize(text string) (string, error) {
	text = strings.TrimFunc(text, trimmed)
	// A request may contain hundreds of kilobytes, so a text that cannot fit is refused by
	// its length alone.
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
