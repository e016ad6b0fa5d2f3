package retwis

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSearchWords(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"Kathryn Kennedy", []string{"kathryn", "kennedy"}},
		{"  Zoë O’Brien-Müller, zoe ", []string{"zoe", "o", "brien", "muller"}},
		{"Straße STRASSE", []string{"strasse"}},
		{"tove_a 99", []string{"tove", "a", "99"}},
		{"ＦＵＬＬ ﬁne", []string{"full", "fine"}},
		{"李 小龍 Ελένη Ελενη", []string{"李", "小龍", "ελενη"}},
		{"🌱 · — ", nil},
		{"", nil},
		{"a b c d e f g h i j k l", []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}},
		{strings.Repeat("é", 60), []string{strings.Repeat("e", 48)}},
		{"x" + strings.Repeat("я", 60), []string{"x" + strings.Repeat("я", 23)}},
	}
	for _, tt := range tests {
		if got := SearchWords(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzSearchWords(f *testing.F) {
	f.Add("Zoë O’Brien Straße 李小龍")
	f.Fuzz(func(t *testing.T, text string) {
		words := SearchWords(text)
		if len(words) > maxSearchWords {
			t.Errorf("%q has %d words", text, len(words))
		}
		for _, word := range words {
			if word == "" || len(word) > maxSearchWordSize || !utf8.ValidString(word) || strings.ContainsFunc(word, unicode.IsSpace) {
				t.Errorf("%q has the word %q", text, word)
			}
			if again := SearchWords(word); !slices.Equal(again, []string{word}) {
				t.Errorf("%q: the words of %q are %q", text, word, again)
			}
		}
	})
}
