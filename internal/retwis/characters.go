package retwis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code points with a rule of their own.
const (
	brailleBlank       = '\u2800'     // a symbol in Unicode, but it looks like a space
	byteOrderMark      = '\ufeff'     // at the beginning of pasted files
	blackFlag          = '\U0001f3f4' // the flags of England, Scotland and Wales begin with it
	tagEnd             = '\U000e007f'
	minFlag, maxFlag   = 3, 7 // length of a region in a flag's tags, such as "gbeng"
	tagDigit, tagLower = '\U000e0030', '\U000e0061'
)

// newlines replaces every kind of line break by a newline.
func newlines(text string) string {
	if !strings.ContainsAny(text, "\r\u2028\u2029") { // the usual case
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
}

// trimmed reports whether a character is removed from both ends of a text: white space and
// the byte order mark, as by String.trim in browsers.
func trimmed(r rune) bool { return unicode.IsSpace(r) || r == byteOrderMark }

// invisible reports whether a text has no visible character.
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

// firstForbidden returns the first forbidden character of a text. Tag characters are allowed
// only after the flag that they belong to, because elsewhere they can hide text.
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

// forbidden reports whether a character is not allowed in texts. The only allowed control
// character is the newline. Format characters are allowed if spelling and layout need them
// and they affect only their neighbours: joiners, direction marks (not embeddings, overrides
// and isolates, which reorder other text), line break hints, and visible ones. Unassigned
// code points are allowed, because new emoji are among them, except those that Unicode
// reserves for invisible characters.
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
	case r == '\u200e', r == '\u200f', r == '\u061c': // LRM, RLM, ALM: direction marks
		return true
	case r == '\u200b', r == '\u2060', r == '\u00ad': // ZWSP (between the words of Khmer and Thai), WJ, soft hyphen
		return true
	case r == '\u180e': // Mongolian vowel separator
		return true
	case r >= 0x13430 && r <= 0x1343f: // hieroglyph joiners
		return true
	default:
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r) // visible, such as Arabic number signs
	}
}

// flagTags returns the length in bytes of the tags that turn the preceding black flag into a
// regional flag, or 0 if there are none.
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
