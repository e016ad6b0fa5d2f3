package enginetest

import (
	"math/rand/v2"
	"slices"

	"retwis/internal/retwis"
)

// Walk reads a timeline page by page in one direction, from a cursor.
func (e *Engine) Walk(r *rand.Rand, id retwis.TimelineID, older bool, from retwis.Cursor) (posts []retwis.PostID, cursors []retwis.Cursor) {
	e.T.Helper()
	for {
		n := 1 + r.IntN(15)
		page := retwis.Page{First: n, After: from}
		if !older {
			page = retwis.Page{Last: n, Before: from}
		}
		got, err := e.Timelines.Page(e.T.Context(), id, page)
		if err != nil {
			e.T.Fatal(err)
		}
		edges, more := got.Edges, got.HasNextPage
		if !older {
			edges, more = slices.Clone(edges), got.HasPreviousPage
			slices.Reverse(edges)
		}
		for _, edge := range edges {
			posts, cursors = append(posts, edge.Post.ID), append(cursors, edge.Cursor)
			from = edge.Cursor
		}
		if more && len(edges) != n {
			e.T.Fatalf("%s: a page of %d has %d posts, and more follow", id, n, len(edges))
		}
		if !more {
			return posts, cursors
		}
	}
}

// PageEntry is what a page holds, with its cursor.
type PageEntry[T any] struct {
	Value  T
	Cursor retwis.Cursor
}

// More returns which of two flags says that pages follow in the direction of a page.
func More(page retwis.Page, next, previous bool) bool {
	if first, _, _ := page.Direction(); first {
		return next
	}
	return previous
}

// BothWays reads all entries of a connection in pages of a size, forwards and backwards, and returns them. It reports a difference
// as one of what is named.
func BothWays[T comparable](e *Engine, what string, size int, read func(retwis.Page) (entries []PageEntry[T], more bool)) []T {
	e.T.Helper()
	var all, back []T
	for page, more := (retwis.Page{First: size}), true; more; {
		var entries []PageEntry[T]
		entries, more = read(page)
		for _, entry := range entries {
			all, page.After = append(all, entry.Value), entry.Cursor
		}
	}
	for page, more := (retwis.Page{Last: size}), true; more; {
		var entries []PageEntry[T]
		entries, more = read(page)
		for _, entry := range slices.Backward(entries) {
			back, page.Before = append(back, entry.Value), entry.Cursor
		}
	}
	if slices.Reverse(back); !slices.Equal(back, all) {
		e.T.Errorf("%s: %v backward, %v forward", what, back, all)
	}
	return all
}
