package operation

import (
	"encoding/json"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// AppendResponse appends a response as JSON, the errors first. A response without data
// gets no data entry: by that clients distinguish a refused request from an execution
// whose result is null.
func AppendResponse(b []byte, r *graphql.Response) ([]byte, error) {
	b = append(b, '{')
	if len(r.Errors) > 0 {
		errs, err := json.Marshal(r.Errors)
		if err != nil {
			return nil, fmt.Errorf("encode errors of a response: %w", err)
		}
		b = append(b, `"errors":`...)
		b = append(b, errs...)
	}
	if Executed(r) {
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

// Executed reports whether a response comes from execution. Otherwise the request was
// refused and nothing was executed.
func Executed(r *graphql.Response) bool { return len(r.Data) > 0 }

// Errorf returns a GraphQL error with a code.
func Errorf(code retwis.Code, format string, args ...any) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    fmt.Sprintf(format, args...),
		Extensions: map[string]any{"code": string(code)},
	}
}

// HasCode reports whether one of the errors has the code.
func HasCode(errs gqlerror.List, code retwis.Code) bool {
	for _, err := range errs {
		if err.Extensions["code"] == string(code) {
			return true
		}
	}
	return false
}

// Refused returns the response of an operation that failed before its execution.
func Refused(reason *retwis.Error) *graphql.Response {
	err := Errorf(reason.Code, "%s", reason.Message)
	if reason.RetryAfterSeconds > 0 {
		err.Extensions["retryAfter"] = reason.RetryAfterSeconds
	}
	return &graphql.Response{Errors: gqlerror.List{err}}
}

// RateLimited returns the response of an operation that may be retried after retryAfter seconds.
func RateLimited(retryAfter int, format string, args ...any) *graphql.Response {
	reason := retwis.Errorf(retwis.CodeRateLimited, format, args...)
	reason.RetryAfterSeconds = retryAfter
	return Refused(reason)
}
