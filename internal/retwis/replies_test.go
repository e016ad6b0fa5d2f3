package retwis

import (
	"errors"
	"testing"
)

func TestReferencePosition_IsThatOfAPost(t *testing.T) {
	t.Parallel()
	for _, kind := range []ReferenceKind{ReplyReference, QuoteReference} {
		of := References{Kind: kind, To: 1, Newest: true}
		for post, want := range map[PostID]error{FirstPostID(1): nil, FirstPostID(1) - 1: ErrBadCursor, 1: ErrBadCursor, 0: ErrBadCursor, -1: ErrBadCursor} {
			at := ReferencePosition{Of: of, First: true, Post: post}
			if got, err := at.Cursor().ReferencePosition(of); !errors.Is(err, want) || (err == nil && got != at) {
				t.Errorf("the cursor at post %d of the %s is read as %+v, %v, want %v", post, kind, got, err, want)
			}
		}
	}
}
