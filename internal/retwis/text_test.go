package retwis

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	family  = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"             // 25 bytes, one cluster
	england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f" // one cluster
)

func TestNormalizePostTextKeepsWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain text", "hello", "hello"},
		{"inner white space", "a  b\n\n c\u00a0d", "a  b\n\n c\u00a0d"},
		{"not the white space around", "\u3000\u00a0\t\r\n hello \n\u2003\u0085", "hello"},
		{"not a byte order mark around", "\ufeff hello\ufeff", "hello"},
		{"one kind of line end", "a\r\nb\rc\u2028d\u2029e\n\rf", "a\nb\nc\nd\ne\n\nf"},
		{"composed letters", "cafe\u0301", "café"},
		{"Hangul", "\u1112\u1161\u11ab", "한"},
		{"singletons as what they stand for", "\u212b\u2126", "\u00c5\u03a9"},
		{"compatibility forms as they are", "ﬁ²①", "ﬁ²①"},
		{"joined emoji", family, family},
		{"variation selectors", "❤\ufe0f ☃\ufe0e 葛\U000e0100", "❤\ufe0f ☃\ufe0e 葛\U000e0100"},
		{"skin tones and keycaps", "👍🏽 1\ufe0f\u20e3", "👍🏽 1\ufe0f\u20e3"},
		{"the flag of England", england, england},
		{"flags side by side", england + england + "🇩🇪", england + england + "🇩🇪"},
		{"Persian with ZWNJ", "می\u200cخواهم", "می\u200cخواهم"},
		{"marks of direction", "a\u200eb\u200fc\u061cd", "a\u200eb\u200fc\u061cd"},
		{"Khmer with ZWSP", "ខ្ញុំ\u200bស្រលាញ់", "ខ្ញុំ\u200bស្រលាញ់"},
		{"soft hyphen and word joiner", "co\u00adoperate\u2060d", "co\u00adoperate\u2060d"},
		{"Mongolian", "ᠬᠠᠷᠭᠠᠨ\u180eᠠ", "ᠬᠠᠷᠭᠠᠨ\u180eᠠ"},
		{"Arabic end of ayah", "\u06dd١٢", "\u06dd١٢"},
		{"private use", "\uf8ff", "\uf8ff"},
		{"unassigned code points", "\U0001faff\u0378", "\U0001faff\u0378"},
		{"a replacement character", "\ufffd", "\ufffd"},
		{"a lone combining mark", "\u0301", "\u0301"},
		{"280 letters", strings.Repeat("a", 280), strings.Repeat("a", 280)},
		{"280 letters in much white space", strings.Repeat(" ", 100_000) + strings.Repeat("a", 280), strings.Repeat("a", 280)},
		{"280 families", strings.Repeat(family, 280), strings.Repeat(family, 280)},
		{"280 Devanagari conjuncts", strings.Repeat("क्ष", 280), strings.Repeat("क्ष", 280)},
		{"10240 bytes exactly", strings.Repeat("e\u20dd\u0308\u0301", 1280), ""},
		{"280 letters in their longest spelling", strings.Repeat("\u1fbe\u0308\u0301", 280), strings.Repeat("\u0390", 280)},
	}
	tests[28].text = strings.Repeat("x"+strings.Repeat("\u20dd", 12), 276) + strings.Repeat("x", 4) + strings.Repeat("\u20dd", 20) + "x"
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
