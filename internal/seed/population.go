// Package seed generates a demonstration data set and loads it into a database: users,
// their follows and their posts. After loading, an [Activity] keeps the users active.
//
// A [Population] defines the data set by a few numbers and a random seed. A [Seeder] loads
// it in bulk. Loading is idempotent: an interrupted run continues when it is started again.
package seed

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/brianvoe/gofakeit/v7"

	"retwis/internal/retwis"
)

// Population defines a data set. Everything in it follows from these fields, so that an
// interrupted run generates the same data when it is started again.
//
// The members are numbered: first the people, then the star and the star's readers if
// Readers is positive.
type Population struct {
	Seed    uint64
	People  int
	Follows int // average number of people that one of the people follows; less than People
	Posts   int // posts of all people; 0 if there are none
	Readers int // followers of the star
}

// Member is a user to register.
type Member struct{ Username, DisplayName, Bio string }

// Streams of random numbers. Each kind of value has a stream, and each value of the kind
// has a substream, so that values do not depend on the order in which they are generated.
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

// Size returns the number of members.
func (p Population) Size() int {
	if p.Readers == 0 {
		return p.People
	}
	return p.People + 1 + p.Readers
}

// Member returns the i-th member.
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

// Joined returns how long before the start of the [Span] of the posts the i-th member
// registered.
func (p Population) Joined(i int) time.Duration {
	return time.Duration(rand.New(p.random(streamJoined, i)).Float64() * float64(300*24*time.Hour))
}

// person returns the i-th of the people. The number at the end makes the username unique;
// the underscore before it distinguishes the name from those of the star's readers.
func (p Population) person(i int) Member {
	f := p.fake(streamPeople, i)
	first, last := f.FirstName(), f.LastName()
	end := "_" + strconv.Itoa(i)
	name := letters(first) + "_" + letters(last)
	name = strings.TrimRight(name[:min(len(name), retwis.MaxUsernameLength-len(end))], "_")
	return Member{Username: name + end, DisplayName: first + " " + last, Bio: f.Bio()}
}

// letters returns a name in lower case, without the characters that a username may not
// contain.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
