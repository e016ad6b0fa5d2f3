package page

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"retwis/internal/bench/world"
)

// staticPage returns a handler that decodes a request and answers each one with the same page of 20 posts,
// encoded by encoding/json from memory.
func staticPage() http.Handler {
	edges := make([]rawEdge, 20)
	for i := range edges {
		edges[i] = rawEdge{
			Cursor: fmt.Sprintf("cursor-of-about-this-length-%02d", i),
			Node: rawPost{
				ID:        fmt.Sprintf("UG9zdDoxMjM0NTY3ODkwMTIzNDU2%02d", i),
				Text:      world.PostText,
				CreatedAt: time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC),
				Author:    rawUser{fmt.Sprintf("VXNlcjoxMjM0NTY3ODkw%02d", i), fmt.Sprintf("somebody_%d", i), "Some Body"},
			},
		}
	}
	page := map[string]any{"data": map[string]any{"viewer": map[string]any{"homeTimeline": map[string]any{"posts": map[string]any{
		"edges": edges, "pageInfo": map[string]any{"hasNextPage": true, "endCursor": "cursor"}, "liveCursor": "cursor",
	}}}}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Query     string
			Variables map[string]any
		}
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(page) // a client that disconnected gets nothing
	})
}
