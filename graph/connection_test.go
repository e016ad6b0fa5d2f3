package graph

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
)

func TestPageArgs_ChecksArguments(t *testing.T) {
	t.Parallel()
	n := func(n int) *int { return &n }
	c := func(c retwis.Cursor) *retwis.Cursor { return &c }
	tests := []struct {
		name          string
		first         *int
		after         *retwis.Cursor
		last          *int
		before        *retwis.Cursor
		want          retwis.Page
		shouldBeWrong bool
	}{
		{name: "nothing", want: retwis.Page{First: 20}},
		{name: "first", first: n(1), want: retwis.Page{First: 1}},
		{name: "as many as one can have", first: n(100), want: retwis.Page{First: 100}},
		{name: "first and after", first: n(7), after: c("a"), want: retwis.Page{First: 7, After: "a"}},
		{name: "after", after: c("a"), want: retwis.Page{First: 20, After: "a"}},
		{name: "last", last: n(7), want: retwis.Page{Last: 7}},
		{name: "as many of the last", last: n(100), want: retwis.Page{Last: 100}},
		{name: "last and before", last: n(7), before: c("b"), want: retwis.Page{Last: 7, Before: "b"}},
		{name: "before", before: c("b"), want: retwis.Page{Last: 20, Before: "b"}},

		{name: "none", first: n(0), shouldBeWrong: true},
		{name: "less than none", first: n(-1), shouldBeWrong: true},
		{name: "too many", first: n(101), shouldBeWrong: true},
		{name: "none of the last", last: n(0), shouldBeWrong: true},
		{name: "too many of the last", last: n(101), shouldBeWrong: true},
		{name: "first and last", first: n(1), last: n(1), shouldBeWrong: true},
		{name: "first and before", first: n(1), before: c("b"), shouldBeWrong: true},
		{name: "last and after", last: n(1), after: c("a"), shouldBeWrong: true},
		{name: "after and before", after: c("a"), before: c("b"), shouldBeWrong: true},
		{name: "first, after and before", first: n(1), after: c("a"), before: c("b"), shouldBeWrong: true},
		{name: "last, after and before", last: n(1), after: c("a"), before: c("b"), shouldBeWrong: true},
		{name: "an empty after", after: c(""), shouldBeWrong: true},
		{name: "an empty before", before: c(""), shouldBeWrong: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pageArgs(tt.first, tt.after, tt.last, tt.before)
			if tt.shouldBeWrong {
				if !errors.Is(err, retwis.ErrBadCursor) { // by code
					t.Errorf("got the error %v, want one with the code %s", err, retwis.CodeBadUserInput)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("unexpected page (-want +got), error %v:\n%s", err, diff)
			}
		})
	}
}
