// Package page measures how the home page of 20 posts with their authors is served.
package page

import (
	"context"
	"time"

	"retwis/internal/bench/load"
)

// The home page, without and with the likes of its posts.
const (
	homePage  = pageBegin + pageEnd
	likedPage = pageBegin + "likeCount viewerHasLiked " + pageEnd

	pageBegin = `query { viewer { homeTimeline { posts(first: 20) {
	edges { cursor node { id text createdAt `
	pageEnd = `author { id username displayName } } }
	pageInfo { hasNextPage endCursor } liveCursor } } } }`
)

// Clients is how many clients read pages at once.
const Clients = 32

// Timeout is how long one operation may take.
const Timeout = 10 * time.Second

// Reader returns an operation that reads the home page of the owner of a session.
func Reader(c *load.Client, token string) func(context.Context) error {
	request := load.NewRequest(homePage, nil)
	return func(ctx context.Context) error { return c.Do(ctx, token, request, nil) }
}

// micros converts a duration to the unit µs of a figure.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
