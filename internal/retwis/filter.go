package retwis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Bounds of filters.
const (
	MaxTrackEntries   = 20
	MaxTrackLength    = 60 // code points of an entry
	MaxTrackedAuthors = 100
)

// TimelineFilter says which posts of a timeline somebody wants. A post has to meet every
// criterion that is given; nil ones are not.
type TimelineFilter struct {
	Track   []string // texts, the words of one of which a post has to have
	Authors []UserID
	Sample  *float64 // a share of all posts
}

// Filter decides which posts somebody wants. It may be used by many goroutines at once.
type Filter struct {
	track   [][]string // entries of folded words; nil without the criterion
	authors []UserID   // sorted; nil without the criterion
	sample  float64
}

// NewFilter checks a filter. The error says which of its fields is wrong.
func NewFilter(of TimelineFilter) (*Filter, error) {
	f := &Filter{sample: 1}
	if of.Sample != nil {
		if f.sample = *of.Sample; !(f.sample > 0 && f.sample <= 1) {
			return nil, badFilter("`sample` is %v: choose a number above 0 and up to 1", f.sample)
		}
	}
	switch n := len(of.Authors); {
	case of.Authors != nil && n == 0:
		return nil, badFilter("`authors` is empty: add ids, or omit it")
	case n > MaxTrackedAuthors:
		return nil, badFilter("`authors` has %d ids: the limit is %d", n, MaxTrackedAuthors)
	}
	f.authors = slices.Clone(of.Authors)
	slices.Sort(f.authors)
	switch n := len(of.Track); {
	case of.Track != nil && n == 0:
		return nil, badFilter("`track` is empty: add words, or omit it")
	case n > MaxTrackEntries:
		return nil, badFilter("`track` has %d entries: the limit is %d", n, MaxTrackEntries)
	}
	for i, entry := range of.Track {
		if n := utf8.RuneCountInString(entry); n > MaxTrackLength {
			return nil, badFilter("entry %d of `track` has %d characters: the limit is %d", i+1, n, MaxTrackLength)
		}
		wanted := slices.Sorted(func(yield func(string) bool) { eachWord(entry, yield) })
		if len(wanted) == 0 {
			return nil, badFilter("entry %d of `track` contains no word", i+1)
		}
		f.track = append(f.track, slices.Compact(wanted))
	}
	return f, nil
}

func badFilter(format string, args ...any) error { return Errorf(CodeBadUserInput, format, args...) }

// Passes reports whether a post is wanted. It asks for the words of its text where they
// matter.
func (f *Filter) Passes(post *Post, wordsOf func(*Post) Words) bool {
	return f.MayPass(post.ID, post.AuthorID) && (f.track == nil || wordsOf(post).haveAllOfOne(f.track))
}

// MayPass reports whether a post whose text is not known could be wanted. Only a filter
// that tracks words decides by the text.
func (f *Filter) MayPass(id PostID, author UserID) bool {
	if f.sample < 1 && share(id) >= f.sample {
		return false
	}
	if f.authors == nil {
		return true
	}
	_, ok := slices.BinarySearch(f.authors, author)
	return ok
}

// share maps ids evenly to numbers from 0 to 1, exclusive, and each id to the same one
// everywhere. What a small sample has, a larger one has too.
func share(id PostID) float64 {
	// The finalizer of SplitMix64: each bit of the id changes half of the bits.
	h := uint64(id)
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	h ^= h >> 31
	return float64(h>>11) / (1 << 53)
}

// Words are the words of a text, without regard to case.
type Words map[string]struct{}

// WordsOf returns the words of a text, as Unicode separates them.
func WordsOf(text string) Words {
	found := Words{}
	for word := range func(yield func(string) bool) { eachWord(text, yield) } {
		found[word] = struct{}{}
	}
	return found
}

func (w Words) haveAllOfOne(entries [][]string) bool {
	return slices.ContainsFunc(entries, func(entry []string) bool {
		return !slices.ContainsFunc(entry, func(word string) bool {
			_, ok := w[word]
			return !ok
		})
	})
}

// eachWord yields the words of a text, folded. White space and punctuation are no words,
// letters, digits and emoji are.
func eachWord(text string, yield func(string) bool) {
	folded := norm.NFC.String(cases.Fold().String(norm.NFC.String(text)))
	for segments := words.FromString(folded); segments.Next(); {
		word := segments.Value()
		if strings.ContainsFunc(word, ofWord) && !yield(word) {
			return
		}
	}
}

func ofWord(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.So) }
