package seed

import (
	"math/rand/v2"
)

// TotalFollows is the number of follows of all members.
func (p Population) TotalFollows() int { return p.People*p.Follows + p.Readers }

// Following returns whom a member follows, as numbers of members.
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

// Of ten picks of somebody to follow, how many are of a neighbour.
const neighbours = 3

// followedBy picks whom one of the people follows. Some are neighbours, who pick each other
// now and then; the others are picked as they are known: how many follow the n-th of the
// people falls with the root of n, so the numbers of followers have the tail of a power law.
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
	for author := 0; len(list) < count; author++ { // nearly everybody is followed
		add(author)
	}
	return list
}

// popular picks one of n people, the first ones most.
func popular(r *rand.Rand, n int) int {
	u := r.Float64()
	return int(u * u * float64(n))
}

// followCount is how many people one follows: two neighbours share twice the average
// between them.
func (p Population) followCount(i int) int {
	pair := i / 2
	if 2*pair+1 == p.People { // has no neighbour
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
