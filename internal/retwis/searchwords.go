package retwis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Bounds of the words of a text for the people search.
const (
	maxSearchWords    = 10
	maxSearchWordSize = 48 // bytes
)

// MaxSearchQuery is the greatest length of a query of the people search, in bytes.
const MaxSearchQuery = 256

// SearchWords returns the words of a display name or a query for the people search, in the order of the text, each once.
// They are made of letters and digits, without regard to case, accents and other marks. Words and names without end are
// cut.
func SearchWords(text string) []string {
	folded := norm.NFKD.String(cases.Fold().String(norm.NFKD.String(text)))
	folded = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, folded)
	var words []string
	seen := map[string]bool{}
	for word := range strings.FieldsFuncSeq(folded, func(r rune) bool { return !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mc) }) {
		word = cut(word, maxSearchWordSize)
		if seen[word] {
			continue
		}
		if len(words) == maxSearchWords {
			break
		}
		seen[word] = true
		words = append(words, word)
	}
	return words
}

// cut returns the longest beginning of a text that has at most size bytes and ends with a whole character.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
