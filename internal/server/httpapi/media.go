package httpapi

import (
	"errors"
	"fmt"
	"mime"
	"strings"
)

var (
	errValueInParts = errors.New("a parameter of the media type has a value in parts")
	errLongMedia    = fmt.Errorf("the media type has more than %d bytes", maxMediaType)
)

// maxMediaType is the length of a media type with its parameters. A thousand bytes of parameters take as long as a small request.
const maxMediaType = 256

// parseMediaType is [mime.ParseMediaType], but refuses long ones, and parameters whose values are encoded or come in parts (RFC 2231). Joining those
// takes ten times as long, and no media type of HTTP has them.
func parseMediaType(text string) (media string, params map[string]string, err error) {
	if len(text) > maxMediaType {
		return "", nil, errLongMedia
	}
	if _, after, _ := strings.Cut(text, ";"); strings.Contains(after, "*") {
		return "", nil, errValueInParts
	}
	return mime.ParseMediaType(text) //nolint:wrapcheck // callers ignore the text
}
