package graph

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/retwis"
)

// The functions below append scalars as JSON, in the very bytes of the marshalers of the
// same names. They append nothing for null.

// appendMarshaler appends what a marshaler writes, for scalars that have no function of
// their own.
func appendMarshaler(b []byte, m graphql.Marshaler) []byte {
	if m == nil || m == graphql.Null {
		return b
	}
	w := bytes.NewBuffer(b)
	m.MarshalGQL(w)
	return w.Bytes()
}

// appendString appends a text. What JSON needs no escape for is left as it is.
func appendString(b []byte, s string) []byte {
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

func appendID(b []byte, id string) []byte { return appendString(b, id) }

func appendBoolean(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

func appendCursor(b []byte, c retwis.Cursor) []byte { return appendString(b, string(c)) }

func appendDateTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, dateTimeLayout)
	return append(b, '"')
}

func appendUserID(b []byte, id retwis.UserID) []byte {
	return appendNumberedID(b, userType, int64(id))
}

func appendPostID(b []byte, id retwis.PostID) []byte {
	return appendNumberedID(b, postType, int64(id))
}

func appendListID(b []byte, id retwis.ListID) []byte {
	return appendNumberedID(b, listType, int64(id))
}

// appendNumberedID appends a global id whose own part is a number.
func appendNumberedID(b []byte, typeName string, id int64) []byte {
	var plain [maxGlobalID]byte
	text := append(plain[:0], typeName...)
	text = append(text, ':')
	text = strconv.AppendInt(text, id, 10)
	b = append(b, '"')
	b = base64.RawURLEncoding.AppendEncode(b, text)
	return append(b, '"')
}
