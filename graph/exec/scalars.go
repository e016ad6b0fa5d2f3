package exec

import (
	"bytes"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
)

// The functions below append scalars as JSON, byte for byte as gqlgen's marshalers of the same names write them. They
// append nothing for null. The generator finds them by their names.

// AppendMarshaler appends what a marshaler writes. It serves scalars that have no function of their own.
func AppendMarshaler(b []byte, m graphql.Marshaler) []byte {
	if m == nil || m == graphql.Null {
		return b
	}
	w := bytes.NewBuffer(b)
	m.MarshalGQL(w)
	return w.Bytes()
}

// AppendString appends a string. It escapes only what JSON requires.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '\\' && c != '"' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		case '\n':
			b = append(b, `\n`...)
		case '\\', '"':
			b = append(b, '\\', c)
		default:
			const digits = "0123456789ABCDEF"
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// AppendID appends an ID.
func AppendID(b []byte, id string) []byte { return AppendString(b, id) }

// AppendBoolean appends a Boolean.
func AppendBoolean(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// AppendInt appends an Int.
func AppendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }
