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

// MarshalDateTime writes an instant in UTC with milliseconds; the zero time is null.
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

// UnmarshalDateTime reads an instant in any form of RFC 3339.
func UnmarshalDateTime(v any) (time.Time, error) {
	s, ok := v.(string)
	if !ok {
		return time.Time{}, badInput("a DateTime is a string, not %v", v)
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, badInput("%q is no DateTime as RFC 3339 writes it", s)
	}
	return t, nil
}

// MarshalCursor writes a cursor.
func MarshalCursor(c retwis.Cursor) graphql.Marshaler { return graphql.MarshalString(string(c)) }

func appendCursor(b []byte, c retwis.Cursor) []byte { return exec.AppendString(b, string(c)) }

// UnmarshalCursor reads a cursor. Whether it is one of the connection that it is
// passed to turns out when that is read.
func UnmarshalCursor(v any) (retwis.Cursor, error) {
	s, ok := v.(string)
	if !ok {
		return "", badInput("a Cursor is a string, not %v", v)
	}
	return retwis.Cursor(s), nil
}

// MarshalInt writes a number.
func MarshalInt(n int) graphql.Marshaler { return graphql.MarshalInt(n) }

// UnmarshalInt reads a number of 32 bits, as GraphQL has it.
func UnmarshalInt(v any) (int, error) {
	n, err := graphql.UnmarshalInt32(v)
	if err != nil {
		return 0, badInput("%v is no 32-bit Int", v)
	}
	return int(n), nil
}

// MarshalFloat writes a number.
func MarshalFloat(f float64) graphql.Marshaler { return graphql.MarshalFloat(f) }

// UnmarshalFloat reads a number.
func UnmarshalFloat(v any) (float64, error) {
	f, err := graphql.UnmarshalFloat(v)
	if err != nil {
		return 0, badInput("%v is no Float", v)
	}
	return f, nil
}

// badInput is a failure to make sense of an argument.
func badInput(format string, args ...any) error {
	return retwis.Errorf(retwis.CodeBadUserInput, "%s", fmt.Sprintf(format, args...))
}
