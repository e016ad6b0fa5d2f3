package retwis

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextRange is a part of a text, in Unicode code points.
type TextRange struct {
	Start int // index of the first code point
	End   int // index behind the last one
}

// LinkRange is an http or https URL in a text.
type LinkRange struct {
	TextRange
	URL string // as it is written in the text
}

// FindLinks returns the URLs of a text, in its order. A URL begins with http:// or https:// that is not part of a longer
// word, and has a host with a dot. Punctuation behind a URL does not belong to it. A URL with a username or password
// is none, because its look deceives about its host.
func FindLinks(text string) []LinkRange {
	var links []LinkRange
	counted, codePoints := 0, 0 // the bytes counted so far, and their number of code points
	for at := 0; ; {
		found := strings.Index(text[at:], "://")
		if found < 0 {
			return links
		}
		colon := at + found
		at = colon + len("://")
		start := schemeStart(text[:colon])
		if start < 0 {
			continue
		}
		end := at + urlLength(text[at:])
		if link := text[start:end]; isLinked(link) {
			first := codePoints + utf8.RuneCountInString(text[counted:start])
			last := first + utf8.RuneCountInString(link)
			links = append(links, LinkRange{TextRange{first, last}, link})
			counted, codePoints = end, last
		}
		at = max(at, end)
	}
}

// schemeStart returns where the http or https at the end of a text begins, or -1.
func schemeStart(text string) int {
	for _, scheme := range []string{"https", "http"} {
		start := len(text) - len(scheme)
		if start < 0 || !strings.EqualFold(text[start:], scheme) {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(text[:start])
		if start == 0 || !unicode.In(last, unicode.Letter, unicode.Digit, unicode.Mark) && !strings.ContainsRune("_@+-./=&", last) {
			return start
		}
	}
	return -1
}

// urlLength returns the length in bytes of what belongs to a URL, behind its scheme.
func urlLength(text string) int {
	end := strings.IndexFunc(text, endsURL)
	if end < 0 {
		end = len(text)
	}
	for end > 0 {
		last := text[end-1]
		switch {
		case strings.IndexByte(".,:;!?'*_~&", last) >= 0:
		case last == ')' && strings.Count(text[:end], ")") > strings.Count(text[:end], "("):
		case last == ']' && strings.Count(text[:end], "]") > strings.Count(text[:end], "["):
		default:
			return end
		}
		end--
	}
	return 0
}

// endsURL reports whether a character cannot be part of a URL in a text: white space, characters that nobody sees,
// brackets and quotation marks around URLs, and the punctuation of scripts without spaces.
func endsURL(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>\"`{}|\\^", r) ||
		r > unicode.MaxASCII && unicode.In(r, unicode.Punct, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isLinked reports whether a URL that was found in a text leads somewhere.
func isLinked(link string) bool {
	parsed, err := url.Parse(link)
	if err != nil || parsed.User != nil || parsed.Opaque != "" {
		return false
	}
	labels := strings.Split(strings.TrimSuffix(parsed.Hostname(), "."), ".")
	for _, label := range labels {
		if label == "" || strings.IndexFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark)
		}) >= 0 {
			return false
		}
	}
	return len(labels) > 1
}
