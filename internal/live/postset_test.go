package live

import (
	"testing"

	"retwis/internal/retwis"
)

func TestPostSet_HasWhatWasAdded(t *testing.T) {
	t.Parallel()
	var s postSet
	const first, step = retwis.PostID(123_456_789_012_345), 1009
	for i := range retwis.PostID(10_000) {
		post := first + i*step
		if s.has(post) {
			t.Fatalf("the set has %d before it was added", post)
		}
		s.add(post)
		if !s.has(post) || s.has(post+1) {
			t.Fatalf("after adding %d, it has that: %v, and the next id: %v", post, s.has(post), s.has(post+1))
		}
	}
}

// BenchmarkPostSet looks up the newest posts of a timeline of which none is in the set.
func BenchmarkPostSet(b *testing.B) {
	for _, size := range []retwis.PostID{1, 100, 10_000} {
		var s postSet
		for i := range size {
			s.add(i * 4099)
		}
		b.Run(size.String(), func(b *testing.B) {
			b.Run("sketch", func(b *testing.B) { lookUp(b, s.has) })
			b.Run("map", func(b *testing.B) {
				lookUp(b, func(post retwis.PostID) bool {
					_, ok := s.posts[post]
					return ok
				})
			})
		})
	}
}

func lookUp(b *testing.B, has func(retwis.PostID) bool) {
	b.Helper()
	for b.Loop() {
		for i := range retwis.PostID(topLength) {
			if has(-1 - i*17) {
				b.Fatal("the set has a post that was not added")
			}
		}
	}
}
