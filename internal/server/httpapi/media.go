package httpapi

import (
	"errors"
	"mime"
	"strings"
)

var errValueInParts = errors.New("a parameter of the media type has a value in parts")

// parseMediaType is [mime.ParseMediaType], but refuses parameters whose values are encoded or come in parts (RFC 2231). Joining those
// takes ten times as long, and no media type of HTTP has them.
func parseMediaType(text string) (media string, params map[string]string, err error) {
	if _, after, _ := strings.Cut(text, ";"); strings.Contains(after, "*") {
		return "", nil, errValueInParts
	}
	return mime.ParseMediaType(text) //nolint:wrapcheck // callers ignore the text
}
