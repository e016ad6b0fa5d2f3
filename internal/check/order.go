package check

import (
	"slices"

	"retwis/internal/retwis"
)

// outOfOrder returns a smallest set of posts without which the others are in strictly
// descending order. The remaining posts are a longest decreasing subsequence, computed in
// O(n log n) by the algorithm of Fredman, "On computing the length of longest increasing
// subsequences", 1975 (patience sorting).
func outOfOrder(posts []retwis.Element) []retwis.Element {
	descends := true
	for i := 1; i < len(posts); i++ {
		descends = descends && posts[i].ID < posts[i-1].ID
	}
	if descends {
		return nil
	}
	// last[n] is the index of the last post of a decreasing subsequence of length n+1, chosen
	// so that this post is as great as possible. before[i] is the index of the post before
	// post i in its subsequence.
	var last []int
	before := make([]int, len(posts))
	for i, post := range posts {
		n, _ := slices.BinarySearchFunc(last, post, func(at int, post retwis.Element) int {
			if posts[at].ID > post.ID {
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
	kept := map[int]bool{}
	for i := last[len(last)-1]; i >= 0; i = before[i] {
		kept[i] = true
	}
	var out []retwis.Element
	for i, post := range posts {
		if !kept[i] {
			out = append(out, post)
		}
	}
	return out
}
