package retwis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	family  = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"             // 25 bytes, one cluster
	england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f" // one cluster
)

func TestNormalizePostText_KeepsOrdinaryText(t *testing.T) {
	t.Parallel()
	// 136 clusters and 4096 bytes.
	heaviest := strings.Repeat("x"+strings.Repeat("\u20dd", 12), 110) + strings.Repeat("x", 26)
	tests := []struct{ name, text, want string }{
		{"plain text", "hello", "hello"},
		{"inner white space", "a  b\n\n c\u00a0d", "a  b\n\n c\u00a0d"},
		{"surrounding white space is trimmed", "\u3000\u00a0\t\r\n hello \n\u2003\u0085", "hello"},
		{"surrounding byte order marks are trimmed", "\ufeff hello\ufeff", "hello"},
		{"line breaks become newlines", "a\r\nb\rc\u2028d\u2029e\n\rf", "a\nb\nc\nd\ne\n\nf"},
		{"letters are composed", "cafe\u0301", "café"},
		{"Hangul", "\u1112\u1161\u11ab", "한"},
		{"singletons are replaced", "\u212b\u2126", "\u00c5\u03a9"},
		{"compatibility forms are kept", "ﬁ²①", "ﬁ²①"},
		{"joined emoji", family, family},
		{"variation selectors", "❤\ufe0f ☃\ufe0e 葛\U000e0100", "❤\ufe0f ☃\ufe0e 葛\U000e0100"},
		{"skin tones and keycaps", "👍🏽 1\ufe0f\u20e3", "👍🏽 1\ufe0f\u20e3"},
		{"the flag of England", england, england},
		{"flags side by side", england + england + "🇩🇪", england + england + "🇩🇪"},
		{"Persian with ZWNJ", "می\u200cخواهم", "می\u200cخواهم"},
		{"direction marks", "a\u200eb\u200fc\u061cd", "a\u200eb\u200fc\u061cd"},
		{"Khmer with ZWSP", "ខ្ញុំ\u200bស្រលាញ់", "ខ្ញុំ\u200bស្រលាញ់"},
		{"soft hyphen and word joiner", "co\u00adoperate\u2060d", "co\u00adoperate\u2060d"},
		{"Mongolian", "ᠬᠠᠷᠭᠠᠨ\u180eᠠ", "ᠬᠠᠷᠭᠠᠨ\u180eᠠ"},
		{"Arabic end of ayah", "\u06dd١٢", "\u06dd١٢"},
		{"stacked hieroglyphs", "\U00013000\U00013430\U00013001", "\U00013000\U00013430\U00013001"},
		{"private use", "\uf8ff", "\uf8ff"},
		{"unassigned code points", "\U0001faff\u0378", "\U0001faff\u0378"},
		{"a replacement character", "\ufffd", "\ufffd"},
		{"a lone combining mark", "\u0301", "\u0301"},
		{"280 letters", strings.Repeat("a", 280), strings.Repeat("a", 280)},
		{"280 letters in much white space", strings.Repeat(" ", 100_000) + strings.Repeat("a", 280), strings.Repeat("a", 280)},
		{"163 families", strings.Repeat(family, 163), strings.Repeat(family, 163)},
		{"280 Devanagari conjuncts", strings.Repeat("क्ष", 280), strings.Repeat("क्ष", 280)},
		{"4096 bytes", heaviest, heaviest},
		{"280 letters in their longest spelling", strings.Repeat("\u1fbe\u0308\u0301", 280), strings.Repeat("\u0390", 280)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := NormalizePostText(tt.text)
			if err != nil || got != tt.want {
				t.Errorf("NormalizePostText(%+q) = %+q, %v, want %+q", tt.text, got, err, tt.want)
			}
		})
	}
}

func TestNormalizePostText_RefusesInvalidText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		code       Code
		message    string // expected part
	}{
		{"nothing", "", CodeBlank, "blank"},
		{"white space", " \t\r\n\u0085\u00a0\u3000\u2028", CodeBlank, "blank"},
		{"a byte order mark", "\ufeff", CodeBlank, "blank"},
		{"joiners", "\u200b\u200c\u200d\u2060", CodeBlank, "blank"},
		{"direction marks", "\u200e\u200f", CodeBlank, "blank"},
		{"overrides alone", "\u202e\u202c", CodeBlank, "blank"},
		{"variation selectors", "\ufe0f\U000e0100", CodeBlank, "blank"},
		{"Hangul fillers", "\u3164\u115f\u1160\uffa0", CodeBlank, "blank"},
		{"an empty Braille cell", "\u2800 \u2800", CodeBlank, "blank"},
		{"soft hyphens and grapheme joiners", "\u00ad\u034f", CodeBlank, "blank"},
		{"tags alone", "\U000e0067\U000e007f", CodeBlank, "blank"},

		{"281 letters", strings.Repeat("a", 281), CodeTooLong, "up to 280 characters (yours has 281)"},
		{"281 families", strings.Repeat(family, 281), CodeTooLong, "up to 280 characters (yours has 281)"},
		{"281 lines", strings.Repeat("a\n", 140) + "a", CodeTooLong, "up to 280 characters (yours has 281)"},
		{"one cluster of many bytes", "a" + strings.Repeat("\u20dd", 3414), CodeTooLong, "10243 bytes"},
		{"a whole request", strings.Repeat("a", 250_000), CodeTooLong, "280 characters"},
		{"a whole request of marks", strings.Repeat("\u0301", 125_000), CodeTooLong, "280 characters"},

		{"NUL", "a\x00b", CodeInvalid, "U+0000"},
		{"a bell", "a\ab", CodeInvalid, "U+0007"},
		{"a bell alone", "\a", CodeInvalid, "U+0007"},
		{"a tab inside", "a\tb", CodeInvalid, "U+0009"},
		{"a vertical tab inside", "a\vb", CodeInvalid, "U+000B"},
		{"an escape", "a\x1b[31mb", CodeInvalid, "U+001B"},
		{"DEL", "a\x7fb", CodeInvalid, "U+007F"},
		{"a C1 control", "a\u0085b", CodeInvalid, "U+0085"},
		{"a byte order mark inside", "a\ufeffb", CodeInvalid, "U+FEFF"},
		{"an invisible operator", "a\u2062b", CodeInvalid, "U+2062"},
		{"an interlinear annotation", "a\ufff9b", CodeInvalid, "U+FFF9"},
		{"a noncharacter", "a\ufffeb", CodeInvalid, "U+FFFE"},
		{"a noncharacter of another plane", "a\U0010ffffb", CodeInvalid, "U+10FFFF"},
		{"an Arabic noncharacter", "a\ufdd0b", CodeInvalid, "U+FDD0"},
		{"an unassigned invisible character", "a\U000e0002b", CodeInvalid, "U+E0002"},
		{"a language tag", "a\U000e0001\U000e0065b", CodeInvalid, "U+E0001"},
		{"tags behind a letter", "a\U000e0067\U000e0062\U000e007f", CodeInvalid, "U+E0067"},
		{"a flag without its end", england[:len(england)-4], CodeInvalid, "U+E0067"},
		{"a flag without a region", "\U0001f3f4\U000e0067\U000e007f", CodeInvalid, "U+E0067"},
		{"a flag with too many tags", "\U0001f3f4" + strings.Repeat("\U000e0067", 8) + "\U000e007f", CodeInvalid, "U+E0067"},
		{"a flag with capital tags", "\U0001f3f4\U000e0047\U000e0042\U000e0045\U000e007f", CodeInvalid, "U+E0047"},
		{"broken UTF-8", "a\xff\xfeb", CodeInvalid, "UTF-8"},
		{"a surrogate", "a\xed\xa0\x80b", CodeInvalid, "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := NormalizePostText(tt.text)
			wantUserError(t, err, tt.code, "text", tt.message)
			if got != "" {
				t.Errorf("returned %+q for a refused text", got)
			}
		})
	}
}

func TestNormalizePostText_NamesBidirectionalControls(t *testing.T) {
	t.Parallel()
	for _, r := range "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		_, err := NormalizePostText("a" + string(r) + "b")
		wantUserError(t, err, CodeInvalid, "text", fmt.Sprintf("%U", r))
	}
}

func TestNormalizeDisplayName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"  Ada Lovelace ":             "Ada Lovelace",
		"Ame\u0301lie":                "Amélie",
		strings.Repeat(family, 50):    strings.Repeat(family, 50),
		"x":                           "x",
		"李 " + england:                "李 " + england,
		"on one line\r\n":             "on one line",
		strings.Repeat(" ", 99) + "z": "z",
	} {
		if got, err := NormalizeDisplayName(name); err != nil || got != want {
			t.Errorf("NormalizeDisplayName(%+q) = %+q, %v, want %+q", name, got, err, want)
		}
	}
	for _, tt := range []struct {
		name    string
		code    Code
		message string
	}{
		{"", CodeBlank, "display name is blank"},
		{"\u3164", CodeBlank, "display name is blank"},
		{strings.Repeat("a", 51), CodeTooLong, "50 characters (yours has 51)"},
		{"a" + strings.Repeat("\u20dd", 700), CodeTooLong, "2101 bytes"},
		{strings.Repeat("a", 10_000), CodeTooLong, "50 characters"},
		{"a\nb", CodeInvalid, "single line"},
		{"a\rb", CodeInvalid, "single line"},
		{"a\u202eb", CodeInvalid, "U+202E"},
	} {
		_, err := NormalizeDisplayName(tt.name)
		wantUserError(t, err, tt.code, "displayName", tt.message)
	}
}

func TestNormalizeBio(t *testing.T) {
	t.Parallel()
	for bio, want := range map[string]string{
		"":                          "",
		" \n ":                      "",
		"\u200b":                    "",
		"one\r\ntwo":                "one\ntwo",
		strings.Repeat(family, 160): strings.Repeat(family, 160),
	} {
		if got, err := NormalizeBio(bio); err != nil || got != want {
			t.Errorf("NormalizeBio(%+q) = %+q, %v, want %+q", bio, got, err, want)
		}
	}
	for _, tt := range []struct {
		bio     string
		code    Code
		message string
	}{
		{strings.Repeat("a", 161), CodeTooLong, "160 characters (yours has 161)"},
		{"a" + strings.Repeat("\u20dd", 2100), CodeTooLong, "6301 bytes"},
		{"a\u2066b", CodeInvalid, "U+2066"},
	} {
		_, err := NormalizeBio(tt.bio)
		wantUserError(t, err, tt.code, "bio", tt.message)
	}
}

// wantUserError checks code, field and a part of the message.
func wantUserError(t *testing.T, err error, code Code, field, message string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("the error is %v, want %s on %s", err, code, field)
		return
	}
	if e.Code != code || len(e.Field) != 2 || e.Field[0] != "input" || e.Field[1] != field {
		t.Errorf("the error is %s on %v (%s), want %s on %s", e.Code, e.Field, e.Message, code, field)
	}
	if !strings.Contains(e.Message, message) {
		t.Errorf("the message %q does not contain %q", e.Message, message)
	}
}

func FuzzNormalizePostText(f *testing.F) {
	for _, seed := range []string{
		"", "hello", " a\r\nb\r ", "cafe\u0301", family, england, england[:9], "a\u202eb", "\u200b", "\ufeffx\ufeff",
		"a\xffb", "\u1fbe\u0308\u0301", "a" + strings.Repeat("\u0301\u0323", 40), strings.Repeat("\u0f71\u0f72", 33),
		"\u1100\u1161\u11a8\u0344", "\u0958\u2adc", "\U0001d15e\U0001d1c0", "क्ष\u094d", "🇩🇪🇩", "\u0600\u06dd1",
		strings.Repeat("a", 281), "a" + strings.Repeat("\u20dd", 3414),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tt := range []struct {
			normalize        func(string) (string, error)
			graphemes, bytes int
			lines, empty     bool
		}{
			{NormalizePostText, MaxPostGraphemes, MaxPostBytes, true, false},
			{NormalizeDisplayName, MaxDisplayNameGraphemes, MaxDisplayNameBytes, false, false},
			{NormalizeBio, MaxBioGraphemes, MaxBioBytes, true, true},
		} {
			got, err := tt.normalize(text)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || !e.UserError() || e.Message == "" || !utf8.ValidString(e.Message) || len(e.Field) != 2 {
					t.Fatalf("%+q is refused with %#v", text, err)
				}
				continue
			}
			again, err := tt.normalize(got)
			if err != nil || again != got {
				t.Fatalf("%+q becomes %+q, then %+q, %v", text, got, again, err)
			}
			if !utf8.ValidString(got) || !norm.NFC.IsNormalString(got) || strings.TrimSpace(got) != got {
				t.Fatalf("%+q becomes %+q, which is not normal", text, got)
			}
			if got == "" {
				if !tt.empty {
					t.Fatalf("%+q becomes nothing", text)
				}
				continue
			}
			if n := countGraphemes(got); n < 1 || n > tt.graphemes || len(got) > tt.bytes {
				t.Fatalf("%+q becomes %+q of %d characters and %d bytes", text, got, n, len(got))
			}
			if !tt.lines && strings.Contains(got, "\n") {
				t.Fatalf("%+q becomes %+q of several lines", text, got)
			}
			if strings.ContainsAny(got, "\x00\t\r\x1b\x7f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff") {
				t.Fatalf("%+q becomes %+q, with a control character", text, got)
			}
		}
	})
}

func BenchmarkNormalizePostText(b *testing.B) {
	for name, text := range map[string]string{
		"usual":            "A post as people write them: two sentences, some ünïcode, and a 👍🏽 at the end. It ends here.",
		"marks":            "a" + strings.Repeat("\u0301\u0323", 10_000),
		"conjuncts":        strings.Repeat("क्", 1700),
		"a whole request":  strings.Repeat("\u0301\u0323", 62_000),
		"only white space": strings.Repeat(" ", 250_000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = NormalizePostText(text)
			}
		})
	}
}
