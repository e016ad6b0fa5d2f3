package broadcast

import (
	"bytes"
	"crypto/rand"
	"fmt"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/retwis"
	"retwis/internal/server/operation"
)

// Rendered is the response to one event, as JSON. It is the same for all members of a
// render group except for the cursor, which is the position in each member's own timeline
// and is inserted between the pieces.
type Rendered struct {
	pieces  [][]byte
	size    int   // of all pieces
	failure error // set if the response must not be sent
}

// Len returns the length with a cursor inserted.
func (r *Rendered) Len(cursor string) int {
	return r.size + (len(r.pieces)-1)*len(cursor)
}

// AppendTo appends the response with a cursor inserted.
func (r *Rendered) AppendTo(b []byte, cursor string) []byte {
	for i, piece := range r.pieces {
		if i > 0 {
			b = append(b, cursor...)
		}
		b = append(b, piece...)
	}
	return b
}

// newPlaceholder returns a stand-in for the cursor while an event is executed. It is drawn
// at random for each execution, after any text in the response was written, and never
// leaves the process: so every occurrence of it is the cursor. JSON does not escape it.
func newPlaceholder() retwis.Cursor { return retwis.Cursor("mark-" + rand.Text()) }

// cutAt encodes a response and cuts it where the placeholder stands for the cursor.
func cutAt(placeholder retwis.Cursor, response *graphql.Response) (*Rendered, error) {
	text, err := operation.AppendResponse(make([]byte, 0, len(response.Data)+64), response)
	if err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	r := &Rendered{pieces: bytes.Split(text, []byte(placeholder))}
	for _, piece := range r.pieces {
		r.size += len(piece)
	}
	return r, nil
}
