package retwis

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func wordsOfPost(p *Post) Words { return WordsOf(p.Text) }

func TestFilter_MatchesTrackedWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		track string
		text  string
		want  bool
	}{
		{"go", "Go is fun", true},
		{"GO", "let's go!", true},
		{"go", "gopher, ago, Mongo", false},
		{"fun go", "Go is fun", true},
		{"fun java", "Go is fun", false},
		{"go go", "go", true},
		{"#golang", "I like golang.", true},
		{"golang", "I like #golang.", true},
		{"@bob_1", "ask @Bob_1, please", true},
		{"bob", "ask @bob_1", false},
		{"don't", "Don't panic", true},
		{"don", "Don't panic", false},
		{"3.14", "pi is 3.14, about", true},
		{"straße", "Hauptstrasse 5, STRASSE", true},
		{"strasse", "die Straße", true},
		{"café", "CAFE\u0301", true},
		{"σοφός", "ΣΟΦΌΣ", true},
		{"привет мир", "Мир, привет!", true},
		{"🎉", "party 🎉🎉", true},
		{"👩‍💻", "a 👩‍💻 at work", true},
		{"👩", "a 👩‍💻 at work", false},
		{"東", "東京", true},
		{"go", "", false},
	}
	for _, tt := range tests {
		f, err := NewFilter(TimelineFilter{Track: []string{"quite another", tt.track}})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Passes(&Post{ID: 1, Text: tt.text}, wordsOfPost); got != tt.want {
			t.Errorf("%q passes %q: %t", tt.text, tt.track, got)
		}
	}
}

func TestFilter_RequiresEveryCriterion(t *testing.T) {
	t.Parallel()
	const low, high PostID = 7, 3 // by their shares
	if share(low) > share(high) {
		t.Fatalf("shares %v, %v", share(low), share(high))
	}
	between := (share(low) + share(high)) / 2
	f, err := NewFilter(TimelineFilter{Track: []string{"go"}, Authors: []UserID{9, 2, 9}, Sample: &between})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		post Post
		want bool
	}{
		{Post{ID: low, AuthorID: 2, Text: "go"}, true},
		{Post{ID: low, AuthorID: 9, Text: "go"}, true},
		{Post{ID: low, AuthorID: 3, Text: "go"}, false},
		{Post{ID: low, AuthorID: 2, Text: "java"}, false},
		{Post{ID: high, AuthorID: 2, Text: "go"}, false},
	} {
		if got := f.Passes(&tt.post, wordsOfPost); got != tt.want {
			t.Errorf("%+v passes: %t", tt.post, got)
		}
		if tt.want && !f.MayPass(tt.post.ID, tt.post.AuthorID) {
			t.Errorf("%+v passes, but MayPass is false", tt.post)
		}
	}
	all, err := NewFilter(TimelineFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if !all.Passes(&Post{ID: high, AuthorID: 1}, func(*Post) Words { panic("the filter does not track words") }) {
		t.Error("a filter without criteria refuses a post")
	}
}

func TestFilter_SamplesUniformly(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, sample := range []float64{0.01, 0.1, 0.5, 0.999, 1} {
		f, err := NewFilter(TimelineFilter{Sample: &sample})
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for i := range PostID(n) {
			// Realistic ids: some milliseconds apart, of 16 partitions.
			if f.MayPass(28_000_000_000_000_000+i*7_000_000+i%16*1000+i%3, 1) {
				passed++
			}
		}
		// Five standard deviations of a binomial distribution.
		if diff := math.Abs(float64(passed) - n*sample); diff > 5*math.Sqrt(n*sample*(1-sample)) {
			t.Errorf("of %d posts %d passed a sample of %v", n, passed, sample)
		}
	}
	if got := share(28_000_000_000_037_005); got != 0.9822004929271524 {
		t.Errorf("the share of a post has changed to %v: processes of another version decide differently", got)
	}
}

func TestNewFilter_ChecksBounds(t *testing.T) {
	t.Parallel()
	sample := func(s float64) *float64 { return &s }
	long := strings.Repeat("é", MaxTrackLength)
	for name, f := range map[string]TimelineFilter{
		"no words":          {Track: []string{}},
		"an empty entry":    {Track: []string{"go", ""}},
		"punctuation":       {Track: []string{"?! - ..."}},
		"a long entry":      {Track: []string{long + "e"}},
		"many entries":      {Track: strings.Split(strings.Repeat("go ", MaxTrackEntries)+"go", " ")},
		"no authors":        {Authors: []UserID{}},
		"many authors":      {Authors: make([]UserID, MaxTrackedAuthors+1)},
		"a sample of none":  {Sample: sample(0)},
		"a negative sample": {Sample: sample(-0.1)},
		"a sample above 1":  {Sample: sample(1.01)},
		"a sample of NaN":   {Sample: sample(math.NaN())},
	} {
		if _, err := NewFilter(f); !errors.Is(err, badFilter("")) {
			t.Errorf("a filter with %s: %v", name, err)
		}
	}
	if _, err := NewFilter(TimelineFilter{
		Track:   strings.Split(strings.Repeat("go ", MaxTrackEntries-1)+long, " "),
		Authors: make([]UserID, MaxTrackedAuthors),
		Sample:  sample(1e-9),
	}); err != nil {
		t.Errorf("a filter at its bounds: %v", err)
	}
}

func FuzzWords(f *testing.F) {
	f.Add("Go is fun", "go")
	f.Add("e\u0301 ﬁ İ ß 👩‍💻", "\xff")
	f.Fuzz(func(t *testing.T, text, more string) {
		found := WordsOf(text)
		for word := range found {
			if again := WordsOf(word); len(again) == 0 {
				t.Errorf("%q has the word %q, which has none", text, word)
			}
		}
		if filter, err := NewFilter(TimelineFilter{Track: []string{more, text}}); err == nil {
			if !filter.Passes(&Post{ID: 1, Text: text}, wordsOfPost) {
				t.Errorf("%q does not pass itself", text)
			}
		}
	})
}

func BenchmarkWordsOf(b *testing.B) {
	text := strings.Repeat("Some words, and others. ", 11)
	for b.Loop() {
		WordsOf(text)
	}
}
