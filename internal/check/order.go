package check

import (
	"slices"

	"retwis/internal/retwis"
)

// outOfOrder returns as few posts as possible without which the others descend.
func outOfOrder(line []retwis.PostID) []retwis.PostID {
	descends := true
	for i := 1; i < len(line); i++ {
		descends = descends && line[i] < line[i-1]
	}
	if descends {
		return nil
	}
	// The longest descending run of posts, not necessarily next to each other, stays:
	// last[n] is where the run of n+1 posts ends whose end is the greatest.
	var last []int
	before := make([]int, len(line))
	for i, post := range line {
		n, _ := slices.BinarySearchFunc(last, post, func(at int, post retwis.PostID) int {
			if line[at] > post {
				return -1
			}
			return 1
		})
		before[i] = -1
		if n > 0 {
			before[i] = last[n-1]
		}
		if n == len(last) {
			last = append(last, i)
		} else {
			last[n] = i
		}
	}
	stays := map[int]bool{}
	for i := last[len(last)-1]; i >= 0; i = before[i] {
		stays[i] = true
	}
	var out []retwis.PostID
	for i, post := range line {
		if !stays[i] {
			out = append(out, post)
		}
	}
	return out
}
