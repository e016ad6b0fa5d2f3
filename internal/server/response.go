package server

import (
	"encoding/json"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// appendResponse appends a response as JSON, the errors first. A response without a
// data entry keeps none: that is how clients tell a request error from an execution
// that came to null.
func appendResponse(b []byte, r *graphql.Response) ([]byte, error) {
	b = append(b, '{')
	if len(r.Errors) > 0 {
		errs, err := json.Marshal(r.Errors)
		if err != nil {
			return nil, fmt.Errorf("encode errors of a response: %w", err)
		}
		b = append(b, `"errors":`...)
		b = append(b, errs...)
	}
	if isExecuted(r) {
		b = appendComma(b)
		b = append(b, `"data":`...)
		b = append(b, r.Data...) // already JSON: the executor wrote it
	}
	if len(r.Extensions) > 0 {
		ext, err := json.Marshal(r.Extensions)
		if err != nil {
			return nil, fmt.Errorf("encode extensions of a response: %w", err)
		}
		b = appendComma(b)
		b = append(b, `"extensions":`...)
		b = append(b, ext...)
	}
	return append(b, '}'), nil
}

func appendComma(b []byte) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return b
}

// isExecuted reports whether a response comes from execution; otherwise the request
// itself was wrong and nothing was run.
func isExecuted(r *graphql.Response) bool { return len(r.Data) > 0 }

// errorOf returns a GraphQL error with a code.
func errorOf(code retwis.Code, format string, args ...any) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    fmt.Sprintf(format, args...),
		Extensions: map[string]any{"code": string(code)},
	}
}

// hasCode reports whether one of the errors has the code.
func hasCode(errs gqlerror.List, code retwis.Code) bool {
	for _, err := range errs {
		if err.Extensions["code"] == string(code) {
			return true
		}
	}
	return false
}
