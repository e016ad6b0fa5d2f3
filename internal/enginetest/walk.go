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
