package retwis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code points that the rules for texts name.
const (
	brailleBlank       = '\u2800'     // a symbol to Unicode, white to the eye
	byteOrderMark      = '\ufeff'     // at the head of pasted files
	blackFlag          = '\U0001f3f4' // what the flags of England, Scotland and Wales begin with
	tagEnd             = '\U000e007f'
	minFlag, maxFlag   = 3, 7 // length of the region that a flag's tags spell, such as "gbeng"
	tagDigit, tagLower = '\U000e0030', '\U000e0061'
)

// newlines makes every line end a newline.
func newlines(text string) string {
	if !strings.ContainsAny(text, "\r\u2028\u2029") { // as nearly always
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
}

// trimmed reports whether the character goes at the ends of a text: white space, and
// the byte order mark, as in String.trim of browsers.
func trimmed(r rune) bool { return unicode.IsSpace(r) || r == byteOrderMark }

// invisible reports whether a reader of the text would see nothing at all.
func invisible(text string) bool {
	for _, r := range text {
		switch {
		case unicode.IsSpace(r), r == brailleBlank:
		case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		default:
			return false
		}
	}
	return true
}

// firstForbidden returns the first character that a text may not have. The tags of a
// flag are fine behind their flag, and a hiding place for text anywhere else.
func firstForbidden(text string) (rune, bool) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if forbidden(r) {
			return r, true
		}
		i += size
		if r == blackFlag {
			i += flagTags(text[i:])
		}
	}
	return 0, false
}

// forbidden reports whether a character may not stand in a text. Of the control
// characters only the newline may. Of the format characters those may that spelling
// and layout need and that act on their neighbours only: joiners, the marks of
// direction (not the embeddings, overrides and isolates, which reorder what others
// read), hints where a line may break, and those that are drawn. Unassigned code
// points may stand, new emoji are among them, unless they are set aside to be invisible.
func forbidden(r rune) bool {
	switch {
	case r == '\n':
		return false
	case unicode.Is(unicode.Cc, r):
		return true
	case r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe: // noncharacters
		return true
	case unicode.Is(unicode.Cf, r):
		return !allowedFormat(r)
	default:
		return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.In(r, unicode.L, unicode.M)
	}
}

func allowedFormat(r rune) bool {
	switch {
	case r == '\u200c', r == '\u200d': // ZWNJ, ZWJ: Persian, Indic scripts, emoji
		return true
	case r == '\u200e', r == '\u200f', r == '\u061c': // LRM, RLM, ALM: right-to-left text
		return true
	case r == '\u200b', r == '\u2060', r == '\u00ad': // ZWSP (between the words of Khmer and Thai), WJ, soft hyphen
		return true
	case r == '\u180e': // Mongolian vowel separator
		return true
	case r >= 0x13430 && r <= 0x1343f: // how hieroglyphs are stacked
		return true
	default:
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r) // drawn: Arabic number signs and the like
	}
}

// flagTags returns the length in bytes of the tags that make a flag of the black flag
// before them, 0 when there are none.
func flagTags(text string) int {
	n := 0
	for i, r := range text {
		switch {
		case r == tagEnd && n >= minFlag:
			return i + utf8.RuneLen(r)
		case r >= tagDigit && r < tagDigit+10, r >= tagLower && r < tagLower+26:
			n++
		default:
			return 0
		}
		if n > maxFlag {
			return 0
		}
	}
	return 0
}
