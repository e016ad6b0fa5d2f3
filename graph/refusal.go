package graph

import (
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// How much a client is told about what it sent. Errors of documents and variables repeat
// what is wrong with them, which may be all of a request.
const (
	maxErrors       = 20
	maxErrorBytes   = 3500 // of all errors of a refused document, as JSON, about
	maxMessageBytes = 300
	maxPathBytes    = 100 // of one element
	errorOverhead   = 130 // of the JSON around message and path
)

// inFewWords returns the first errors of a refused operation, shortened.
func inFewWords(errs gqlerror.List) gqlerror.List {
	total := 0
	for i, err := range errs {
		err.Message = shorten(err.Message, maxMessageBytes)
		total += errorOverhead + len(err.Message)
		for j, element := range err.Path {
			if name, ok := element.(ast.PathName); ok {
				err.Path[j] = ast.PathName(shorten(string(name), maxPathBytes))
				total += len(err.Path[j].(ast.PathName))
			}
		}
		if i > 0 && (i == maxErrors || total > maxErrorBytes) {
			return errs[:i]
		}
	}
	return errs
}

// shorten cuts a text, and says so.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
