package seed

import (
	"math/rand/v2"
)

// TotalFollows returns the number of follows of all members.
func (p Population) TotalFollows() int { return p.People*p.Follows + p.Readers }

// Following returns the numbers of the members that the i-th member follows.
func (p Population) Following(i int) []int {
	switch {
	case i < p.People:
		return p.followedBy(i)
	case i == p.People:
		return nil
	default:
		return []int{p.People}
	}
}

// neighbours is how many of ten picks are neighbours of the follower.
const neighbours = 3

// followedBy picks the people that the i-th of the people follows. Some picks are
// neighbours by number, so that some follows are mutual. The other picks prefer popular
// people: the expected number of followers of the n-th of the people is proportional to
// 1/sqrt(n), a power law, as in social networks.
func (p Population) followedBy(i int) []int {
	r := rand.New(p.random(streamFollows, i))
	count := p.followCount(i)
	picked := make(map[int]bool, count)
	list := make([]int, 0, count)
	add := func(author int) {
		if author != i && !picked[author] {
			picked[author] = true
			list = append(list, author)
		}
	}
	around := min(2*p.Follows, p.People/2)
	for range 20 * count {
		if len(list) == count {
			return list
		}
		if around > 0 && r.IntN(10) < neighbours {
			add((i + p.People - around + r.IntN(2*around+1)) % p.People)
			continue
		}
		add(popular(r, p.People))
	}
	for author := 0; len(list) < count; author++ { // almost everyone has been picked
		add(author)
	}
	return list
}

// popular picks one of n people and prefers low numbers: the square of a uniform variate
// has the density 1/(2*sqrt(x)) on (0, 1).
func popular(r *rand.Rand, n int) int {
	u := r.Float64()
	return int(u * u * float64(n))
}

// followCount returns how many people the i-th of the people follows. The counts of two
// neighbours add up to twice the average, so that the total is exact.
func (p Population) followCount(i int) int {
	pair := i / 2
	if 2*pair+1 == p.People { // the last of an odd number has no neighbour
		return p.Follows
	}
	spread := min(p.Follows, p.People-1-p.Follows)
	if spread <= 0 {
		return p.Follows
	}
	off := rand.New(p.random(streamFollows, p.People+pair)).IntN(spread)
	if i%2 == 0 {
		return p.Follows + off
	}
	return p.Follows - off
}
