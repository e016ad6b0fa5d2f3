package gqlsse

import (
	"retwis/internal/retwis"
	"retwis/internal/server/broadcast"
)

const (
	completeEvent = "event: complete\ndata:\n\n"
	keepAlive     = ":\n\n" // a comment, so that no proxy closes an idle connection
	eventOverhead = 64      // what a queued event costs besides its bytes
)

// event is an outgoing event: one that other streams share, or a whole text.
type event struct {
	shared *broadcast.Rendered
	cursor retwis.Cursor
	text   []byte
}

func (e event) cost() int {
	if e.shared != nil {
		return e.shared.Len(string(e.cursor)) + eventOverhead
	}
	return len(e.text) + eventOverhead
}

// appendTo appends the event in the format of text/event-stream. JSON contains no line
// breaks, so the data is one line.
func (e event) appendTo(b []byte) []byte {
	if e.shared == nil {
		return append(b, e.text...)
	}
	b = append(b, "event: next\nid: "...)
	b = append(b, e.cursor...)
	b = append(b, "\ndata: "...)
	b = e.shared.AppendTo(b, string(e.cursor))
	return append(b, "\n\n"...)
}
