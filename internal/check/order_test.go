package check

import (
	"math/rand/v2"
	"slices"
	"testing"

	"retwis/internal/retwis"
)

func TestOutOfOrder_ReturnsMisplacedPosts(t *testing.T) {
	t.Parallel()
	type ids = []retwis.PostID
	tests := []struct {
		name      string
		line, out ids
	}{
		{"no posts", nil, nil},
		{"one post", ids{1}, nil},
		{"in order", ids{9, 7, 5, 1}, nil},
		{"two posts swapped", ids{9, 5, 7, 1}, ids{5}},
		{"oldest post on top", ids{1, 9, 7, 5}, ids{1}},
		{"newest post at the bottom", ids{7, 5, 1, 9}, ids{9}},
		{"duplicate post", ids{7, 7, 5}, ids{7}},
		{"reverse order", ids{1, 2, 3}, ids{1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := outOfOrder(plain(tt.line...)); !slices.Equal(got, plain(tt.out...)) {
				t.Errorf("outOfOrder(%v) = %v, want %v", tt.line, got, tt.out)
			}
		})
	}
}

// Compares the number of posts out of order with the minimum over all subsets.
func TestOutOfOrder_ReturnsFewestPosts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		line := make([]retwis.PostID, r.IntN(9))
		for i := range line {
			line[i] = retwis.PostID(1 + r.IntN(9))
		}
		least := len(line)
		for subset := range 1 << len(line) {
			var rest []retwis.PostID
			for i, post := range line {
				if subset>>i&1 == 1 {
					rest = append(rest, post)
				}
			}
			if descends(rest) {
				least = min(least, len(line)-len(rest))
			}
		}
		if got := outOfOrder(plain(line...)); len(got) != least {
			t.Fatalf("outOfOrder(%v) = %v, want %d posts", line, got, least)
		}
	}
}

func descends(line []retwis.PostID) bool {
	for i := 1; i < len(line); i++ {
		if line[i] >= line[i-1] {
			return false
		}
	}
	return true
}
