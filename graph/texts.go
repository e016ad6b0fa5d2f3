package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// fewTexts is how many bytes the texts of a page, or of a batch of a loader, may have without counting as memory: most have fewer.
const fewTexts = 16 << 10

// keepTexts counts texts that the operation has read, and keeps until it ends: those of a page of 100 users may take 800 KB, for 112 points.
func keepTexts(ctx context.Context, bytes int) {
	if bytes > fewTexts {
		_ = cost.Of(ctx).Keep(bytes) // if that is too much, the next read fails
	}
}

// keeping returns a read that counts the texts of what it has read.
func keeping[K comparable, V any](read loaders.Read[K, V], texts func([]V) int) loaders.Read[K, V] {
	return func(ctx context.Context, keys []K) ([]V, error) {
		values, err := read(ctx, keys)
		keepTexts(ctx, texts(values))
		return values, err
	}
}

// textsOfUsers returns how many bytes the texts of users have. A user may be nil.
func textsOfUsers(users []*retwis.User) int {
	bytes := 0
	for _, user := range users {
		if user != nil {
			bytes += len(user.Bio) + len(user.DisplayName)
		}
	}
	return bytes
}

// textsOfPosts returns how many bytes the texts of posts have. A post may be nil.
func textsOfPosts(posts []*retwis.Post) int {
	bytes := 0
	for _, post := range posts {
		if post != nil {
			bytes += len(post.Text)
		}
	}
	return bytes
}
