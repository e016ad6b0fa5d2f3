package seed

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/brianvoe/gofakeit/v7"

	"retwis/internal/retwis"
)

// Span is the period over which the posts of a population are spread.
const Span = 30 * 24 * time.Hour

// Author returns the number of the member who wrote the i-th post. Half of the posts are
// by random people, the other half by popular people.
func (p Population) Author(i int) int {
	r := rand.New(p.random(streamAuthors, i))
	if r.IntN(2) == 0 {
		return r.IntN(p.People)
	}
	return popular(r, p.People)
}

// Text returns the normalised text of the i-th post. The text does not depend on the
// number of people.
func (p Population) Text(i int) (string, error) {
	return retwis.NormalizePostText(randomText(p.fake(streamPosts, i)))
}

func randomText(f *gofakeit.Faker) string {
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

// Age returns the age of the i-th post at the end of the [Span]. Ages decrease with i.
func (p Population) Age(i int) time.Duration {
	each := Span / time.Duration(p.Posts)
	within := time.Duration(rand.New(p.random(streamTimes, i)).Float64() * float64(each))
	return time.Duration(p.Posts-1-i)*each + within
}
