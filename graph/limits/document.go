package limits

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// maxTokens bounds the tokens of a document.
const maxTokens = 2_000

// Bounds of a document, checked before it is parsed. The document of introspection and those of the web app have up to
// 200 tokens, 4 fragments and 6 spreads.
const (
	maxDocumentBytes = 32 << 10
	maxName          = 64 // bytes; validation looks for names similar to unknown ones
	maxFragments     = 20
	maxSpreads       = 50
	maxBraces        = 40 // nested, of selections and of values
	maxValueBraces   = 5  // nested, of values: an error about one contains it, and each level copies it
)

// Document is a document as a client sent it, measured before it is parsed.
type Document struct {
	Source string // what the client sent
	Text   string // the same tokens, separated by one space: comments and white space make no difference

	tokens, fragments, spreads int

	locating sync.Once
	places   [][2]place // of all tokens, in Text and in Source
}

// ReadDocument measures a document. It refuses one that exceeds a bound. A document that cannot be split into tokens keeps
// its text: the parser reports what is wrong with it.
func ReadDocument(source string) (*Document, *gqlerror.Error) {
	d := &Document{Source: source, Text: source}
	if len(source) > maxDocumentBytes {
		return d, tooComplex("the document has %d bytes: the limit is %d", len(source), maxDocumentBytes)
	}
	var text strings.Builder
	text.Grow(len(source))
	depth, deepest, arguments, deepestValue, longest, floats, afterSpread, unusualNumber := 0, 0, 0, 0, 0, 0, false, false
	scan := scanner{text: source}
	for scan.next() {
		token := source[scan.start:scan.end]
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(token)
		d.tokens++
		switch {
		case token == "{" || token == "[" || token == "(":
			depth++
			deepest = max(deepest, depth)
			if token == "(" && arguments == 0 {
				arguments = depth
			}
			if arguments > 0 {
				deepestValue = max(deepestValue, depth-arguments)
			}
		case token == "}" || token == "]" || token == ")":
			if depth == arguments {
				arguments = 0
			}
			depth--
		case token == "fragment" && depth <= 0:
			d.fragments++
		case afterSpread && isNameStart(token[0]) && token != "on":
			d.spreads++
		}
		switch {
		case isNameStart(token[0]):
			longest = max(longest, len(token))
		case token[0] == '-' || isDigit(token[0]):
			unusualNumber = unusualNumber || isUnusual(token)
			if strings.ContainsAny(token, ".eE") {
				floats++
			}
		}
		afterSpread = token == "..."
	}
	if !scan.malformed {
		d.Text = text.String()
	}
	switch {
	case longest > maxName:
		return d, tooComplex("a name in the document has %d bytes: the limit is %d", longest, maxName)
	case unusualNumber:
		return d, unusualNumberIn("document", errcode.ValidationFailed)
	case floats > maxFloats:
		return d, tooComplex("the document has %d numbers with a fraction or an exponent: the limit is %d", floats, maxFloats)
	case d.tokens > maxTokens:
		return d, tooComplex("the document has %d tokens: the limit is %d", d.tokens, maxTokens)
	case d.fragments > maxFragments:
		return d, tooComplex("the document defines %d fragments: the limit is %d", d.fragments, maxFragments)
	case d.spreads > maxSpreads:
		return d, tooComplex("the document spreads fragments %d times: the limit is %d", d.spreads, maxSpreads)
	case deepest > maxBraces:
		return d, tooComplex("the document nests %d braces and brackets: the limit is %d", deepest, maxBraces)
	case deepestValue > maxValueBraces:
		return d, tooComplex("a value in the document nests %d lists and objects: the limit is %d", deepestValue, maxValueBraces)
	}
	return d, nil
}

// Costs of a document, in points.
const (
	documentCost   = 20 // of one that has to be parsed
	bytesPerPoint  = 256
	tokensPerPoint = 2
	definitionCost = 10 // a fragment, and a spread: validation compares the fields of each pair
)

// ReadCost returns the cost of measuring the document. A document that is sent with exactly the same bytes as before has none.
func (d *Document) ReadCost() int { return 1 + len(d.Source)/bytesPerPoint }

// ParseCost returns the cost of parsing and validating the document, whichever of its operations is selected.
func (d *Document) ParseCost() int {
	return documentCost + d.tokens/tokensPerPoint + definitionCost*(d.fragments+d.spreads)
}

// Locate translates a position in Text into the position of the same token in Source. Lines and columns count from 1,
// columns in characters.
func (d *Document) Locate(line, column int) (sourceLine, sourceColumn int) {
	if d.Source == d.Text {
		return line, column
	}
	d.locating.Do(func() {
		text, source := scanner{text: d.Text}, scanner{text: d.Source}
		for text.next() && source.next() {
			d.places = append(d.places, [2]place{text.place(), source.place()})
		}
	})
	at := place{line, column}
	n, found := slices.BinarySearchFunc(d.places, at, func(token [2]place, at place) int { return token[0].compare(at) })
	if !found {
		n-- // within a token
	}
	if n < 0 {
		return line, column
	}
	token, source := d.places[n][0], d.places[n][1]
	if token.line != line {
		return source.line, source.column
	}
	return source.line, source.column + column - token.column
}

// scanner splits a document into tokens. It knows only where they begin and end: names, numbers, strings and
// punctuators.
type scanner struct {
	text       string
	start, end int // of the token
	malformed  bool

	placed place // of the byte at offset
	offset int
}

// place is a position in a text.
type place struct{ line, column int }

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.line, other.line), cmp.Compare(p.column, other.column))
}

// next finds the next token. It returns false at the end of the document, and where there is no token.
func (s *scanner) next() bool {
	s.skip()
	s.start = s.end
	if s.end == len(s.text) {
		return false
	}
	rest := s.text[s.end:]
	n := 0
	switch c := rest[0]; {
	case c == '"':
		n = stringLength(rest)
	case isNameStart(c):
		n = length(rest, isName)
	case c == '-' || isDigit(c):
		n = numberLength(rest)
	case strings.HasPrefix(rest, "..."):
		n = 3
	case strings.IndexByte("!$&():=@[]{|}", c) >= 0:
		n = 1
	}
	s.end += n
	s.malformed = n == 0
	return n > 0
}

// skip skips what has no meaning: white space, commas, byte order marks and comments.
func (s *scanner) skip() {
	for s.end < len(s.text) {
		switch s.text[s.end] {
		case ' ', '\t', '\n', '\r', ',':
			s.end++
		case '#':
			for s.end < len(s.text) && (s.text[s.end] >= ' ' || s.text[s.end] == '\t') {
				s.end++
			}
		default:
			if !strings.HasPrefix(s.text[s.end:], "\ufeff") {
				return
			}
			s.end += len("\ufeff")
		}
	}
}

// place returns the position of the token. It continues from the token that it was asked for last.
func (s *scanner) place() place {
	if s.offset == 0 {
		s.placed = place{1, 1}
	}
	for s.offset < s.start {
		r, n := utf8.DecodeRuneInString(s.text[s.offset:])
		s.offset += n
		s.placed.column++
		if r == '\n' || r == '\r' && !strings.HasPrefix(s.text[s.offset:], "\n") {
			s.placed = place{s.placed.line + 1, 1}
		}
	}
	return s.placed
}

// stringLength returns the length of the string that a text begins with, or 0 if it has no end.
func stringLength(text string) int {
	if strings.HasPrefix(text, `"""`) {
		return blockLength(text)
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		case '\n', '\r':
			return 0
		}
	}
	return 0
}

// blockLength is stringLength for a block string. Of more than three quotes, the last three end it.
func blockLength(text string) int {
	for i := 3; i < len(text); {
		quotes := length(text[i:], func(c byte) bool { return c == '"' })
		switch {
		case quotes >= 3:
			return i + quotes
		case strings.HasPrefix(text[i:], `\"""`):
			i += 4
		default:
			i += max(quotes, 1)
		}
	}
	return 0
}

// numberLength returns the length of the number that a text begins with, or 0 if it is not one. A name or another number may follow at once:
// the parser takes them for further tokens.
func numberLength(text string) int {
	n := length(text[:1], func(c byte) bool { return c == '-' })
	digits := length(text[n:], isDigit)
	if digits == 0 || digits > 1 && text[n] == '0' {
		return 0
	}
	n += digits
	for _, part := range []struct{ marks, signs string }{{".", ""}, {"eE", "+-"}} {
		if n == len(text) || !strings.Contains(part.marks, text[n:n+1]) {
			continue
		}
		n++
		if n < len(text) && strings.Contains(part.signs, text[n:n+1]) {
			n++
		}
		digits := length(text[n:], isDigit)
		if digits == 0 {
			return 0
		}
		n += digits
	}
	return n
}

func length(text string, belongs func(byte) bool) int {
	n := 0
	for n < len(text) && belongs(text[n]) {
		n++
	}
	return n
}

func isNameStart(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isName(c byte) bool { return isNameStart(c) || isDigit(c) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
