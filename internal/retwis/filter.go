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
	MaxTrackLength    = 60  // code points of an entry
	MaxTrackedWords   = 100 // words of all entries together; a word counts once in each of them
	MaxTrackedAuthors = 100
)

// TimelineFilter selects posts of a timeline. A post must meet every criterion that is not
// nil.
type TimelineFilter struct {
	Track   []string // a post must contain all words of at least one of these texts
	Authors []UserID
	Sample  *float64 // fraction of all posts
}

// Filter selects posts. It is safe for concurrent use.
type Filter struct {
	track   [][]string // entries of folded words; nil without the criterion
	authors []UserID   // sorted; nil without the criterion
	sample  float64
}

// NewFilter validates a filter. Its error names the invalid field.
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
	words := 0
	for i, entry := range of.Track {
		if n := utf8.RuneCountInString(entry); n > MaxTrackLength {
			return nil, badFilter("entry %d of `track` has %d characters: the limit is %d", i+1, n, MaxTrackLength)
		}
		wanted := slices.Sorted(func(yield func(string) bool) { eachWord(entry, yield) })
		if len(wanted) == 0 {
			return nil, badFilter("entry %d of `track` contains no word", i+1)
		}
		f.track = append(f.track, slices.Clip(slices.Compact(wanted)))
		if words += len(f.track[i]); words > MaxTrackedWords {
			return nil, badFilter("`track` has more than %d words: use fewer or shorter entries", MaxTrackedWords)
		}
	}
	return f, nil
}

// Size returns about how many bytes the filter takes in memory, with what it was made from, and with what a subscription remembers for it.
func (f *Filter) Size() int {
	const ofEntry, ofWord, ofAuthor, ofTrack = 64, 32, 16, 1024
	size := ofAuthor * len(f.authors)
	if f.track != nil {
		size += ofTrack
	}
	for _, entry := range f.track {
		size += ofEntry
		for _, word := range entry {
			size += ofWord + 3*len(word) // each word keeps the folded text of its entry
		}
	}
	return size
}

func badFilter(format string, args ...any) error { return Errorf(CodeBadUserInput, format, args...) }

// Passes reports whether a post passes the filter. It calls wordsOf only if the filter
// tracks words.
func (f *Filter) Passes(post *Post, wordsOf func(*Post) Words) bool {
	return f.MayPass(post.ID, post.AuthorID) && (f.track == nil || wordsOf(post).haveAllOfOne(f.track))
}

// MayPass reports whether a post with an unknown text may pass. It is exact for a filter
// that does not track words.
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

// share maps ids uniformly to numbers from 0 to 1, exclusive. It is the same in every
// process, so a larger sample contains every smaller one.
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

// Words are the case-folded words of a text.
type Words map[string]struct{}

// WordsOf returns the words of a text by the word boundaries of Unicode.
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

// eachWord yields the case-folded words of a text. Words consist of letters, digits or
// emoji, not of white space or punctuation.
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
