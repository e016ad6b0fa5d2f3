package server

import (
	"bytes"
	"crypto/rand"
	"fmt"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/retwis"
)

// rendered is the response to one event, as JSON. It is the same for all members of a
// class but for the cursor, which says a place in each member's own timeline: it belongs
// between the pieces.
type rendered struct {
	pieces [][]byte
	size   int // of all pieces
}

func (r *rendered) length(cursor retwis.Cursor) int {
	return r.size + (len(r.pieces)-1)*len(cursor)
}

func (r *rendered) appendTo(b []byte, cursor retwis.Cursor) []byte {
	for i, piece := range r.pieces {
		if i > 0 {
			b = append(b, cursor...)
		}
		b = append(b, piece...)
	}
	return b
}

// newMark returns what stands for the cursor while an event is executed. It is drawn
// anew for each, after whatever text the response may hold was written, and leaves the
// process nowhere: so what looks like it is the cursor. JSON needs no escapes for it.
func newMark() retwis.Cursor { return retwis.Cursor("mark-" + rand.Text()) }

// cutAt encodes a response and cuts it where the mark stands for the cursor.
func cutAt(mark retwis.Cursor, response *graphql.Response) (*rendered, error) {
	text, err := appendResponse(make([]byte, 0, len(response.Data)+64), response)
	if err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	r := &rendered{pieces: bytes.Split(text, []byte(mark))}
	for _, piece := range r.pieces {
		r.size += len(piece)
	}
	return r, nil
}
