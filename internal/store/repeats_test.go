package store

import (
	"testing"
	"unsafe"

	"retwis/internal/retwis"
)

// Attack: each of a thousand reposts of one post had a copy of the hundred below it, 4 MB for each of fifty pages of a light query.
func TestSamePosts_ShareTheirMemory(t *testing.T) {
	t.Parallel()
	const reposts = 1000
	places := make([]place, reposts)
	for i := range places {
		places[i] = place{i, retwis.NewElement(retwis.PostID(2*reposts-i), 1, 0, 7)}
	}
	places = append(places, place{reposts, retwis.Plain(8)}) // another post
	same := samePostsOf(places)
	for i, p := range places {
		below := same.below(p)
		want := min(repeatSpan, reposts-1-i)
		if i == reposts {
			want = 0
		}
		if len(below) != want || cap(below) != want {
			t.Fatalf("place %d has %d elements below it, with room for %d, want %d", i, len(below), cap(below), want)
		}
		if want > 0 && (below[0] != places[i+1].element || below[want-1] != places[i+want].element) {
			t.Fatalf("place %d has other elements below it", i)
		}
		if want > 0 && unsafe.SliceData(below) != &same[7].elements[i+1] {
			t.Fatalf("place %d has a copy of the elements below it", i)
		}
	}
	if below := same.below(place{0, retwis.NewElement(9999, 1, 0, 8)}); below != nil {
		t.Errorf("a repost of the post of element %d has %v below it, which is too far", reposts, below)
	}
	if below := same.below(place{reposts - 1, retwis.NewElement(9999, 1, 0, 8)}); len(below) != 1 {
		t.Errorf("a repost of the post directly below it has %v below it", below)
	}
}
