package main

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/brianvoe/gofakeit/v7"

	"retwis/internal/retwis"
)

// population is what seeding makes. Everything about it follows from its fields, so that
// a run that broke off goes on where it was when it is started again.
//
// Its members are the people, then the star and the star's readers where there are any.
type population struct {
	seed    uint64
	people  int
	follows int // of each of the people, on average
	posts   int
	readers int // of the star
}

// member is somebody to register.
type member struct{ username, displayName, bio string }

// Streams of random numbers: one for each kind of thing, and in it one for each thing.
const (
	streamPeople = iota + 1
	streamFollows
	streamPosts
	streamAuthors
)

func (p population) random(stream, i int) *rand.PCG {
	return rand.NewPCG(p.seed, uint64(stream)<<48|uint64(i))
}

func (p population) fake(stream, i int) *gofakeit.Faker {
	return gofakeit.NewFaker(p.random(stream, i), false)
}

// size is the number of members.
func (p population) size() int {
	if p.readers == 0 {
		return p.people
	}
	return p.people + 1 + p.readers
}

func (p population) member(i int) member {
	switch {
	case i < p.people:
		return p.person(i)
	case i == p.people:
		return member{"star", "Star", "Everybody reads me."}
	default:
		n := strconv.Itoa(i - p.people - 1)
		return member{"reader" + n, "Reader " + n, "I read the star."}
	}
}

// person makes one of the people. The number at the end of the name keeps it apart from
// the others, the underscore before it from those of the star's readers.
func (p population) person(i int) member {
	f := p.fake(streamPeople, i)
	first, last := f.FirstName(), f.LastName()
	end := "_" + strconv.Itoa(i)
	name := letters(first) + "_" + letters(last)
	name = strings.TrimRight(name[:min(len(name), retwis.MaxUsernameLength-len(end))], "_")
	return member{username: name + end, displayName: first + " " + last, bio: f.Bio()}
}

// letters is what of a name a username can have.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// totalFollows is the number of follows of all members.
func (p population) totalFollows() int { return p.people*p.follows + p.readers }

// following returns whom a member follows, as numbers of members.
func (p population) following(i int) []int {
	switch {
	case i < p.people:
		return p.followedBy(i)
	case i == p.people:
		return nil
	default:
		return []int{p.people}
	}
}

// followedBy picks whom one of the people follows. The first people are followed most:
// how many follow the n-th falls with the root of n.
func (p population) followedBy(i int) []int {
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
	for range 20 * count {
		if len(list) == count {
			return list
		}
		u := r.Float64()
		add(int(u * u * float64(p.people)))
	}
	for author := 0; len(list) < count; author++ { // nearly everybody is followed
		add(author)
	}
	return list
}

// followCount is how many people one follows: two neighbours share twice the average
// between them.
func (p population) followCount(i int) int {
	pair := i / 2
	if 2*pair+1 == p.people { // has no neighbour
		return p.follows
	}
	spread := min(p.follows, p.people-1-p.follows)
	if spread <= 0 {
		return p.follows
	}
	off := rand.New(p.random(streamFollows, p.people+pair)).IntN(spread)
	if i%2 == 0 {
		return p.follows + off
	}
	return p.follows - off
}

// post returns the author of a post, as the number of a member, and its text.
func (p population) post(i int) (author int, text string) {
	author = rand.New(p.random(streamAuthors, i)).IntN(p.people)
	f := p.fake(streamPosts, i) // of its own: the text is the same among however many people
	switch f.IntN(4) {
	case 0:
		text = f.Question()
	case 1:
		text = f.Quote()
	case 2:
		text = f.HipsterSentence()
	default:
		text = strings.Join(slices.Compact([]string{f.Sentence(), f.Sentence()}), " ")
	}
	return author, text
}
