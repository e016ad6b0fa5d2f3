// Package seed makes up a network of people: who they are, whom they follow and what they
// post. It fills a database with them, and lets them go on living.
package seed

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/brianvoe/gofakeit/v7"

	"retwis/internal/retwis"
)

// Population is what seeding makes. Everything about it follows from its fields, so that
// a run that broke off goes on where it was when it is started again.
//
// Its members are the people, then the star and the star's readers where there are any.
type Population struct {
	Seed    uint64
	People  int
	Follows int // of each of the people, on average; fewer than there are people
	Posts   int // of people, so none where there are none
	Readers int // of the star
}

// Member is somebody to register.
type Member struct{ Username, DisplayName, Bio string }

// Streams of random numbers: one for each kind of thing, and in it one for each thing.
const (
	streamPeople = iota + 1
	streamFollows
	streamPosts
	streamAuthors
	streamTimes
	streamJoined
)

func (p Population) random(stream, i int) *rand.PCG {
	return rand.NewPCG(p.Seed, uint64(stream)<<48|uint64(i))
}

func (p Population) fake(stream, i int) *gofakeit.Faker {
	return gofakeit.NewFaker(p.random(stream, i), false)
}

// Size is the number of members.
func (p Population) Size() int {
	if p.Readers == 0 {
		return p.People
	}
	return p.People + 1 + p.Readers
}

// Member returns one of the members by number.
func (p Population) Member(i int) Member {
	switch {
	case i < p.People:
		return p.person(i)
	case i == p.People:
		return Member{"star", "Star", "Everybody reads me."}
	default:
		n := strconv.Itoa(i - p.People - 1)
		return Member{"reader" + n, "Reader " + n, "I read the star."}
	}
}

// Joined returns how long before the [Span] of the posts a member came.
func (p Population) Joined(i int) time.Duration {
	return time.Duration(rand.New(p.random(streamJoined, i)).Float64() * float64(300*24*time.Hour))
}

// person makes one of the people. The number at the end of the name keeps it apart from
// the others, the underscore before it from those of the star's readers.
func (p Population) person(i int) Member {
	f := p.fake(streamPeople, i)
	first, last := f.FirstName(), f.LastName()
	end := "_" + strconv.Itoa(i)
	name := letters(first) + "_" + letters(last)
	name = strings.TrimRight(name[:min(len(name), retwis.MaxUsernameLength-len(end))], "_")
	return Member{Username: name + end, DisplayName: first + " " + last, Bio: f.Bio()}
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
