package graph

import (
	"fmt"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph/exec"
	"retwis/internal/retwis"
)

// dateTimeLayout is RFC 3339 with exactly three digits of milliseconds.
const dateTimeLayout = "2006-01-02T15:04:05.000Z07:00"

// MarshalDateTime encodes a time in UTC with milliseconds. The zero time is null.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	if t.IsZero() {
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) {
		b := make([]byte, 0, len(dateTimeLayout)+2)
		b = append(b, '"')
		b = t.UTC().AppendFormat(b, dateTimeLayout)
		b = append(b, '"')
		_, _ = w.Write(b)
	})
}

func appendDateTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, dateTimeLayout)
	return append(b, '"')
}

// UnmarshalDateTime parses a time in any form of RFC 3339.
func UnmarshalDateTime(v any) (time.Time, error) {
	s, ok := v.(string)
	if !ok {
		return time.Time{}, badInput("a DateTime is a string, not %v", v)
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, badInput("%.40q is not a DateTime in the format of RFC 3339", s)
	}
	return t, nil
}

// MarshalCursor encodes a cursor.
func MarshalCursor(c retwis.Cursor) graphql.Marshaler { return graphql.MarshalString(string(c)) }

func appendCursor(b []byte, c retwis.Cursor) []byte { return exec.AppendString(b, string(c)) }

// UnmarshalCursor parses a cursor. It does not check whether the cursor belongs to the connection that it is an argument of.
func UnmarshalCursor(v any) (retwis.Cursor, error) {
	s, ok := v.(string)
	if !ok {
		return "", badInput("a Cursor is a string, not %v", v)
	}
	return retwis.Cursor(s), nil
}

// MarshalInt encodes an integer.
func MarshalInt(n int) graphql.Marshaler { return graphql.MarshalInt(n) }

// UnmarshalInt parses an integer of 32 bits, the range of GraphQL.
func UnmarshalInt(v any) (int, error) {
	n, err := graphql.UnmarshalInt32(v)
	if err != nil {
		return 0, badInput("%v is not a 32-bit Int", v)
	}
	return int(n), nil
}

// MarshalFloat encodes a number.
func MarshalFloat(f float64) graphql.Marshaler { return graphql.MarshalFloat(f) }

// UnmarshalFloat parses a number.
func UnmarshalFloat(v any) (float64, error) {
	f, err := graphql.UnmarshalFloat(v)
	if err != nil {
		return 0, badInput("%v is not a Float", v)
	}
	return f, nil
}

// badInput returns the error of an invalid argument. It does not print objects and lists among args: that takes long for large
// ones, and an input is parsed again for each field that it is an argument of.
func badInput(format string, args ...any) error {
	for i, arg := range args {
		switch arg.(type) {
		case map[string]any:
			args[i] = "an object"
		case []any:
			args[i] = "a list"
		}
	}
	return retwis.Errorf(retwis.CodeBadUserInput, "%s", fmt.Sprintf(format, args...))
}
