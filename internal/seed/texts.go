package seed

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/brianvoe/gofakeit/v7"

	"retwis/internal/retwis"
)

// Span is the time that the posts of a population are spread over.
const Span = 30 * 24 * time.Hour

// Author returns who makes a post, as the number of a member: anybody, or as often somebody
// who is known.
func (p Population) Author(i int) int {
	r := rand.New(p.random(streamAuthors, i))
	if r.IntN(2) == 0 {
		return r.IntN(p.People)
	}
	return popular(r, p.People)
}

// Text returns what a post says. It is the same among however many people, and is what
// normalisation makes of it.
func (p Population) Text(i int) (string, error) {
	return retwis.NormalizePostText(someText(p.fake(streamPosts, i)))
}

func someText(f *gofakeit.Faker) string {
	switch f.IntN(4) {
	case 0:
		return f.Question()
	case 1:
		return f.Quote()
	case 2:
		return f.HipsterSentence()
	default:
		return strings.Join(slices.Compact([]string{f.Sentence(), f.Sentence()}), " ")
	}
}

// Age returns how long before the end of the [Span] a post is made. Later posts are younger.
func (p Population) Age(i int) time.Duration {
	each := Span / time.Duration(p.Posts)
	within := time.Duration(rand.New(p.random(streamTimes, i)).Float64() * float64(each))
	return time.Duration(p.Posts-1-i)*each + within
}
