package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

type rawPost struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"createdAt"`
	Author    rawAuthor `json:"author"`
}

type rawAuthor struct {
	ID          string `json:"id"`
	Username    string `json:"username"`
	DisplayName string `json:"displayName"`
}

// RawPages is what net/http and encoding/json alone can do: it reads a request and answers
// every one with the same page of 20 posts with their authors, which it has in memory.
func RawPages() http.Handler {
	type edge struct {
		Cursor string  `json:"cursor"`
		Node   rawPost `json:"node"`
	}
	edges := make([]edge, 20)
	for i := range edges {
		edges[i] = edge{fmt.Sprintf("cursor-of-about-this-length-%02d", i), rawPost{
			ID:        fmt.Sprintf("UG9zdDoxMjM0NTY3ODkwMTIzNDU2%02d", i),
			Text:      "a post of the usual length, which is about as long as this one",
			CreatedAt: time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC),
			Author:    rawAuthor{fmt.Sprintf("VXNlcjoxMjM0NTY3ODkw%02d", i), fmt.Sprintf("somebody_%d", i), "Some Body"},
		}}
	}
	answer := map[string]any{"data": map[string]any{"viewer": map[string]any{"homeTimeline": map[string]any{"posts": map[string]any{
		"edges": edges, "pageInfo": map[string]any{"hasNextPage": true, "endCursor": "cursor"}, "liveCursor": "cursor",
	}}}}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Query     string
			Variables map[string]any
		}
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&request); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // a client that is gone gets nothing
	})
}
