// Package page measures how the home page of 20 posts with their authors is served, and how posts are
// created, over HTTP.
package page

import (
	"context"
	"time"

	"retwis/internal/bench/load"
	"retwis/internal/bench/measure"
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

// clients is how many clients read pages at once.
const clients = 32

// timeout is how long one operation may take.
const timeout = 10 * time.Second

// reader returns an operation that reads the home page of the owner of a session.
func reader(c *load.Client, token string) func(context.Context) error {
	request := load.NewRequest(homePage, nil)
	return func(ctx context.Context) error { return c.Do(ctx, token, request, nil) }
}

// micros converts a duration to the unit µs of a figure.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// earlier returns what Retwis in PHP did on a machine of two cores (nginx, php-fpm 8.2 with opcache),
// which is not part of a run.
func earlier(name string, value, atLeast float64) measure.Baseline {
	return measure.Baseline{Name: "Retwis in PHP, " + name, Value: value, Earlier: true, Goal: measure.AtLeast(atLeast)}
}
