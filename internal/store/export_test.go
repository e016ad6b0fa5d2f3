package store

import (
	"context"

	"retwis/internal/retwis"
)

// ErrConcurrentChange is the error of a build that follows overtake each time.
var ErrConcurrentChange = errConcurrentChange

// Build is the building of a timeline.
type Build = build

// Gathered returns how many posts a building has gathered.
func Gathered(b Build) int { return len(b.posts) }

// BeginBuild begins the building of a timeline.
func (s *Timelines) BeginBuild(ctx context.Context, id retwis.TimelineID) (Build, error) {
	return s.beginBuild(ctx, id)
}

// EndBuild ends it.
func (s *Timelines) EndBuild(ctx context.Context, b Build) (bool, error) { return s.endBuild(ctx, b) }
